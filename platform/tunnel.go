package platform

import "net/http"

// Carried is the answer of a controller's public API that came through the tunnel.
type Carried struct {
	ID     string // of the request
	Status int
	Header http.Header
	Body   []byte
}
