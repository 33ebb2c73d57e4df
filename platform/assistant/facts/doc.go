// Package facts has the read tools of the assistant: typed questions to what controllers reported, answered with typed
// facts. Every fact carries its [Basis], which tells source, age and gaps; what is not known has no number. The agents
// word these facts.
package facts
