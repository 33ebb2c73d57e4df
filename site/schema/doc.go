// Package schema reads YAML documents that must obey a JSON Schema.
//
// A document is parsed, checked and decoded in one go, and everything that is
// wrong with it is told at once, in the form an editor can jump to:
//
//	site.yaml:14:7: buses[1].line.parity: is "evn", allowed: none, even, odd
//
// Besides the schema, every document must be one YAML document of at most
// [MaxSize] bytes with at most [MaxValues] values (aliases counted as often as
// they are used), without duplicate keys, merge keys, custom tags or numbers
// that are not finite.
//
// Times are written as text with a unit ("200ms", "25s", "1m30s"); a schema
// says so with "format": "timespan", and a time.Duration field takes them.
package schema
