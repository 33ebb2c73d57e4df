// Package platform has the nouns that the rooms of the cloud platform share: what a building reports, who asks, and what
// may be asked of it. It imports the standard library only; the rooms below import it and never each other; cmd/platformd
// puts them together.
package platform
