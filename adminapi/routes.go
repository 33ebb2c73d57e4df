package adminapi

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// route is one thing that this door does. The table of them is the role matrix, and
// what the description at /api/v1/openapi.json is made from.
type route struct {
	method, path string
	needs        permission
	about        string
	in, out      any // values of the types of the bodies; nil: none
	status       int // of success
	handle       echo.HandlerFunc
	query        []query
}

// query is what may stand behind the question mark.
type query struct{ name, about string }

// routes lists all that this door does.
func (a *API) routes() []route {
	const get, post = http.MethodGet, http.MethodPost
	ok, none := http.StatusOK, http.StatusNoContent
	return []route{
		{get, "/claim", anyone, "Whether the controller is still to be claimed", nil, ClaimState{}, ok, a.claimState, nil},
		{post, "/claim", anyone, "Make the first user with the one-time claim code", ClaimRequest{}, Session{}, ok, a.claim, nil},
		{post, "/auth/login", anyone, "Log in", Login{}, Session{}, ok, a.login, nil},
		{post, "/auth/refresh", anyone, "Replace the tokens of a program", Refresh{}, Session{}, ok, a.refresh, nil},
		{post, "/auth/logout", anyone, "End a session", Logout{}, nil, none, a.logout, nil},
		{get, "/session", reader, "Who is logged in", nil, Session{}, ok, a.session, nil},

		{get, "/site", reader, "Name, settings and faults of the site", nil, Site{}, ok, a.site, nil},
		{get, "/clusters", reader, "All clusters", nil, []Cluster{}, ok, a.clusters, nil},
		{get, "/clusters/:id", reader, "One cluster, by ID or UUID", nil, Cluster{}, ok, a.cluster, nil},
		{get, "/nodes", reader, "All nodes", nil, []Node{}, ok, a.nodes, nil},
		{get, "/nodes/:id", reader, "One node, by ID or UUID", nil, Node{}, ok, a.node, nil},
		{get, "/shades", reader, "All shades", nil, []Shade{}, ok, a.shades, nil},
		{get, "/shades/:id", reader, "One shade, by ID or UUID", nil, Shade{}, ok, a.shade, nil},
		{get, "/buses", reader, "All buses", nil, []Bus{}, ok, a.buses, nil},
		{get, "/buses/:bus", reader, "One bus with its devices, by name or UUID", nil, BusDetail{}, ok, a.bus, nil},

		{post, "/commands", operator, "Command lights or shades; answers when the outcome is known", Command{}, Entry{}, ok, a.do, nil},
		{get, "/events", reader, "Everything that happens, as server-sent events: picture, then change, entry, job, lost, tick", nil, Picture{}, ok, a.events, nil},

		{get, "/jobs", reader, "Long work under way, and the last 64 that ended", nil, []Job{}, ok, a.jobs, nil},
		{post, "/jobs", operator, "Begin long work; 409 if its subject has some under way", JobRequest{}, Job{}, http.StatusAccepted, a.startJob, nil},
		{get, "/jobs/:id", reader, "One job with all it found out", nil, Job{}, ok, a.job, nil},
		{http.MethodDelete, "/jobs/:id", operator, "Cancel a job", nil, Job{}, http.StatusAccepted, a.cancelJob, nil},
		{post, "/jobs/:id/answer", operator, "Answer the question of a job", JobAnswer{}, nil, none, a.answerJob, nil},

		{get, "/openapi.json", anyone, "This description", nil, nil, ok, a.openAPI, nil},
	}
}
