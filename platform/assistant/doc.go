// Package assistant answers questions about buildings from what their controllers reported.
//
// One question goes this way:
//
//	understand.Read    the words become a typed frame              ../understand/
//	route              the question chooses an agent               agent.go
//	facts              the agent reads, with source and age        facts/
//	words              the agent words what it read                lights.go, energy.go, …
//
// With a language model the model chooses the agent and words the answer, from the same facts by the same tools
// (talk.go); if it fails, the way above is taken and a status update says so.
//
// Nothing that a device or an installer named is ever an order, and nothing is switched without the permission of the
// asker and their own "yes" to what was previewed (order.go).
package assistant
