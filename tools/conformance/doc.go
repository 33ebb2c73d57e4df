// Package conformance asks a controller over the network everything that the Controller
// 1.0 contract promises, and what we decided where the contract is silent.
//
// It knows no code of the controller: it is a client like any other. Without a target for
// commands it only reads; logging in is all that it posts.
package conformance
