// Package platform is the cloud side told without technology: who may ask, with
// which key, and what is known of a site. It imports the standard library only.
//
// # How a room is added
//
// The platform is built like the controller, in small:
//
//	cmd/platformd                          flags, wiring, signals
//	platform/apikey  login  assistant …    rooms: each registers its own routes
//	platform/gate                          the hallway: who asks, and how often
//	platform                               nouns (this package)
//	platform/store  ratelimit              disk and counters
//
// A room is a package below platform with a function Register that takes the echo
// instance and the guards it needs as [echo.MiddlewareFunc]; cmd/platformd makes
// it, and hands it the store behind an interface that the room declares itself.
// Rooms never import each other, nor the store, nor the gate. Who asks is found by
// [IdentityOf] in the context of the request; every request that reaches a handler
// has been counted already. What two rooms need is a noun here.
//
// A room that keeps something adds platform/store/NOUN.go with its queries, and a
// file to platform/store/migrations.
//
// [echo.MiddlewareFunc]: https://pkg.go.dev/github.com/labstack/echo/v4#MiddlewareFunc
package platform
