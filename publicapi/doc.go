// Package publicapi is the door for integrators: the Controller 1.0 contract
// under /svc/api, with its description at /docs and /openapi.json.
//
// # Reading
//
//	GET ─▶ bearer token ─▶ query ─▶ view ─▶ page of the newest snapshot ─▶ answer
//
// A poll touches no bus, no database and no lock that a writer holds. The core
// publishes immutable snapshots; a [page] is one answer's body, rendered at most
// once per change of any value and shared by everybody who asks for the same
// view. One with lastSeen in it is rendered anew for each snapshot, and beyond the
// bounds of what is kept each answer for itself.
//
// # Commanding
//
//	POST ─▶ bearer token ─▶ body ─▶ command ─▶ Core.Do ─▶ status 1 or 0
//
// The body is judged completely before anything is done: a request either
// becomes one command or an error that names the field. Core.Do returns when the
// outcome of every member is known, and status 1 means that the hardware
// acknowledged.
//
// Directions: shadeLevel and posValue are 100 for fully open, as everywhere in
// the product, unless the site setting InvertShades turns the numbers (and only
// the numbers: UP still opens) for sites whose Controller 1.0 counted the other
// way.
package publicapi
