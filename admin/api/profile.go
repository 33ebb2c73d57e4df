package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// Profile tells what one kind of device is, as a node names it.
type Profile struct {
	Driver  string   `json:"driver"`
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Source  string   `json:"source" doc:"Where what is known of it comes from."`
	Caveats []string `json:"caveats,omitempty"`
	Lights  int      `json:"lights" doc:"Outputs that can be lights."`
	Shades  [][]int  `json:"shades,omitempty" doc:"Of each output that can be a shade, the outputs it is made of, which are no lights then."`
}

// profiles lists the built-in ones, by driver and name.
func (a *API) profiles(c echo.Context) error {
	driver, out := c.QueryParam("driver"), []Profile{}
	for _, p := range a.Profiles() {
		if driver == "" || p.Driver == driver {
			out = append(out, p)
		}
	}
	return answer(c, http.StatusOK, out)
}
