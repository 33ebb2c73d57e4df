package intake

import (
	"bytes"
	"errors"
)

// errUTF16 is the error of text whose marks cannot be counted, since they have other bytes.
var errUTF16 = errors.New("it is UTF-16 text: save it as UTF-8")

// otherBreaks end a line of YAML, too, and with it a comment.
var otherBreaks = []string{"\r", "\u0085", "\u2028", "\u2029"}

// YAML fails with [*TooMuch] where the text of a YAML document has so many marks (of lists,
// mappings and what is in them) that there may be more values than the limit. It is asked
// before the document is parsed: a parser makes some 200 bytes of every value, and of a
// mark that takes one.
//
// Every value but the first stands behind a mark, so that there are never more than twice
// as many as marks: a key and nothing. What is a comment is not counted, and what is text
// in quotes is.
func YAML(what string, text []byte, marksMost int) error {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return errUTF16
	}
	for _, b := range otherBreaks {
		if bytes.Contains(text, []byte(b)) {
			text = bytes.ReplaceAll(text, []byte(b), []byte("\n"))
		}
	}
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
				if i+1 == len(line) || bytes.IndexByte([]byte(" \t\n,]}"), line[i+1]) >= 0 {
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
