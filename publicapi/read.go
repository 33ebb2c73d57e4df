package publicapi

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
)

func (a *API) getClusters(c echo.Context) error    { return a.show(c, view{list: clusterList}) }
func (a *API) getActiveNodes(c echo.Context) error { return a.show(c, view{list: activeNodeList}) }
func (a *API) getShades(c echo.Context) error      { return a.show(c, view{list: shadeList}) }

func (a *API) getNodesForCluster(c echo.Context) error {
	q, err := readQuery(c.Request())
	if err != nil {
		return err
	}
	id, err := q.clusterID()
	if err != nil {
		return err
	}
	tag, err := q.tagType()
	if err != nil {
		return err
	}
	return a.show(c, view{list: clusterNodeList, tag: tag,
		target: appliance.Target{Scope: appliance.InCluster, ID: id}})
}

func (a *API) getShadesForCluster(c echo.Context) error {
	q, err := readQuery(c.Request())
	if err != nil {
		return err
	}
	id, err := q.clusterID()
	if err != nil {
		return err
	}
	return a.show(c, view{list: clusterShadeList, target: appliance.Target{Scope: appliance.InCluster, ID: id}})
}

// getLightLevels lists all rows unless it is asked for those of a cluster or one
// target.
func (a *API) getLightLevels(c echo.Context) error {
	q, err := readQuery(c.Request())
	if err != nil {
		return err
	}
	t, present, err := target(q)
	if err != nil {
		return err
	}
	if !present {
		t.Scope = appliance.All
	}
	return a.show(c, view{list: lightLevelList, target: t})
}

// Shared header values, see web.JSONType. Answers may be kept, but only by
// whoever asked, and must be asked about again each time.
var revalidate = []string{"private, no-cache"}

const (
	// largeAnswer is what connections do not take at once, in bytes; a building of some 300 lights has one.
	largeAnswer = 32 << 10
	// Large answers under way, of one user and in all, and those of a user that wait: half a megabyte each at 5,000 lights.
	readersUser, readersMost, readersWaiting = 24, 48, 2048
)

// show sends the page of a view.
func (a *API) show(c echo.Context, v view) error {
	pg := a.pages.get(a.core.Snapshot(), v)
	if pg != nil && len(pg.body) > largeAnswer {
		who, _ := web.CallerOf(c)
		leave, err := a.readers.Enter(c, who.Name)
		if err != nil {
			return err
		}
		defer leave()
		pg = a.pages.get(a.core.Snapshot(), v) // somebody may have waited
	}
	if pg == nil {
		return notThere(v)
	}
	w, r := c.Response(), c.Request()
	h := w.Header()
	h["Etag"] = pg.etag
	h["Cache-Control"] = revalidate
	if !pg.oldest.IsZero() {
		age := max(time.Since(pg.oldest), 0)
		h["X-State-Age"] = []string{strconv.Itoa(int(age / time.Second))}
	}
	if web.SameTag(r, pg.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h["Content-Type"] = web.JSONType
	h["Content-Length"] = pg.length
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(pg.body)
	return err
}

// notThere is the answer to a read of what does not exist. An empty list would
// look like a cluster without lights.
func notThere(v view) error {
	if v.list == lightLevelList && v.target.Scope == appliance.One {
		return web.Refuse(http.StatusNotFound, fmt.Sprintf("targetId: no node or shade %d", v.target.ID))
	}
	field := "clusterId"
	if v.list == lightLevelList {
		field = "targetId"
	}
	return web.Refuse(http.StatusNotFound, fmt.Sprintf("%s: no cluster %d", field, v.target.ID))
}
