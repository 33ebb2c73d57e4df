// Package web is the shelf that all HTTP doors share, those of the controller and those
// of the platform. It knows neither: it is handed who a caller is ([Authenticator]) and
// what an error means ([Table]).
//
// It holds what would otherwise be decided twice: the echo instance with its request IDs,
// access log and security headers ([New]), the one way from an error to an answer
// ([Table.Of]), TLS with a certificate of our own ([Certificate]), the check of a bearer
// token ([Require]), the brake on password guessing ([Brake]) and the listener that no
// single host can fill ([Serve]).
//
// # One request
//
//	Serve ─▶ door (ID, headers, recover, log) ─▶ router ─▶ handler
//	                ▲                                        │ error
//	                └────────── answer ◀── Table.Of ◀────────┘
//
// Handlers return errors. An [Error] separates the message that a stranger may
// read from the cause that only the log sees; any other error is looked up in
// the table, and what is not in the table is "internal error" to the outside.
package web
