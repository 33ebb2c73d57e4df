package intake

import "bytes"

// YAML fails with [*TooMuch] where the text of a YAML document has so many marks (of lists,
// mappings and what is in them) that there may be more values than the limit. It is asked
// before the document is parsed: a parser makes some 200 bytes of every value, and of a
// mark that takes one.
//
// Every value but the first stands behind a mark, so that there are never more than twice
// as many as marks: a key and nothing. What is a comment is not counted, and what is text
// in quotes is.
func YAML(what string, text []byte, marksMost int) error {
	marks := 0
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("#")) {
			continue
		}
		for i, c := range line {
			switch c {
			case ',', ':', '[', '{':
				marks++
			case '-', '?':
				// Such a mark ends with white space, or with the line; in braces before others.
				if i+1 == len(line) || bytes.IndexByte([]byte(" \t\r\n,]}"), line[i+1]) >= 0 {
					marks++
				}
			}
		}
		if marks > marksMost {
			return &TooMuch{what, int64(marksMost), "marks of lists and mappings (, : [ { -)", "is it the right file? A site of 5,000 lights has a third of that"}
		}
	}
	return nil
}
