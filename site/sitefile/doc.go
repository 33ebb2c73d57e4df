// Package sitefile reads a site from the YAML file that an installer writes.
//
// The file's form is fixed by a JSON Schema ([Schema]); docs/site-file.md
// explains every key. What a schema cannot say (that a name is known, that
// outputs do not overlap) is checked afterwards, and all problems come back
// together with file, line, column and key.
//
// Entries without an ID get negative placeholder IDs, by which shades and
// clusters of the same file refer to them; whoever takes the site over gives
// them real ones. Buses without a UUID get one whose first twelve bytes are
// zero, for the same purpose.
//
// What [Write] writes, [Parse] reads back unchanged: IDs and UUIDs included.
package sitefile
