// Package migration works out what a house that another controller runs means for this
// one: which clusters, nodes and shades come over with their IDs, and what stands in the way.
package migration
