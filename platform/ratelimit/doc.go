// Package ratelimit counts requests in fixed windows: exactly, whatever comes at
// once, and on all instances together if they share a Redis.
//
// # Windows
//
// A window of a bucket begins at a multiple of its length, shifted by a hash of the
// bucket's name. So every instance knows when it ends without asking, and not all
// begin at once. A request that is refused is not counted. The limit is not part of
// what is kept: another one holds from the next request.
//
// # Redis
//
// Each request runs one script there, which counts and sets the end of the count's
// life in one step; what comes while others are under way goes together. Every instance counts besides what it let through itself, and lets
// nobody have more than the limit of that. When Redis is away this is all that counts:
// together, never more than limit × instances.
//
// A request waits 90 ms for a Redis that is silent. After three failures in a row nobody waits for Redis any more
// until it has answered a probe, twice a second, aside.
package ratelimit
