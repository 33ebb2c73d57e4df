// Package intake reads what people bring in: backups, site files, profiles, update
// bundles, the answers of other controllers. Each reader has a budget of bytes and of
// entries, small enough that a daemon at work, in the 256 MB that its unit gives it
// (MemoryMax), can hold what was read; and it ends at once when its context does.
//
// What somebody else made is never trusted to say how large it is: a size is believed
// only as far as there are bytes that bear it out.
package intake
