package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"svc.internal/controller/appliance"
)

// Shades tells the state of every shade.
func (c *Client) Shades(ctx context.Context) ([]Shade, error) {
	return list[Shade](ctx, c, "/shades")
}

// CalibrateOptions of [Client.Calibrate].
type CalibrateOptions struct {
	Runs   int  // both ways; 0: the usual number
	DryRun bool // save nothing
	Ask    bool // before every leg but the first
}

// Calibrate measures the travel times of a shade, and calls each as it goes. The
// run ends, and the shade stops, when ctx ends or each fails.
func (c *Client) Calibrate(ctx context.Context, shade appliance.ID, opts CalibrateOptions, each func(ShadeEvent) error) error {
	q := url.Values{"runs": {strconv.Itoa(opts.Runs)}, "dry": {digit(opts.DryRun)}, "ask": {digit(opts.Ask)}}
	return stream(ctx, c, http.MethodPost, "/shades/"+idText(shade)+"/calibrate?"+q.Encode(), each)
}

// Direction finds out which way a shade runs, as Calibrate does.
func (c *Client) Direction(ctx context.Context, shade appliance.ID, dryRun bool, each func(ShadeEvent) error) error {
	q := url.Values{"dry": {digit(dryRun)}}
	return stream(ctx, c, http.MethodPost, "/shades/"+idText(shade)+"/direction?"+q.Encode(), each)
}

// Answer answers a question of a run under way.
func (c *Client) Answer(ctx context.Context, shade appliance.ID, q Question, said string) error {
	v := url.Values{"step": {strconv.Itoa(q.Step)}, "said": {said}}
	res, err := c.ask(ctx, http.MethodPost, "/shades/"+idText(shade)+"/answer?"+v.Encode())
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func digit(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}
