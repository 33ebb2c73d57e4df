// Package assistant answers questions about buildings from what their controllers reported.
//
// One question goes this way:
//
//	understand.Read    the words become a typed frame              ../understand/
//	route              the question chooses an agent               agent.go
//	facts              the agent reads, with source and age        facts/
//	words              the agent words what it read                lights.go, energy.go, …
//
// A language model, if there is one, is asked what the rules do not read whole: it fills in a form (form.go), which becomes a
// frame of the same kind, and the answer says what it was taken for (talk.go). A figure or a word of its own has no way to anybody.
//
// Nothing that a device or an installer named is ever an order, and nothing is switched without the permission of the
// asker and their own "yes" to what was previewed (order.go).
package assistant
