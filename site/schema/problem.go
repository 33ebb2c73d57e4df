package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a document.
type Problem struct {
	File string `json:"file"`
	// Line and Column count from 1; zero when the whole file is meant.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Key is the path of the value, such as buses[1].line.parity; empty for the
	// document itself.
	Key string `json:"key,omitempty"`
	// Message says what is wrong and what is allowed.
	Message string `json:"message"`
}

// String gives file:line:column: key: message, leaving out what is not known.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, max(p.Column, 1))
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key)
		b.WriteString(": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is everything wrong with a document, in the order of its lines. It
// is returned as an error; take it apart with errors.As.
type Problems []Problem

// maxProblems bounds what one document reports: who has a hundred has a
// misunderstanding, not a hundred mistakes.
const maxProblems = 100

// Full reports whether no more problems would be told of.
func (p Problems) Full() bool { return len(p) > maxProblems }

// Error gives one line per problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Err sorts p by position, drops repetitions and returns it as an error, or nil
// if there is no problem.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	sorted := slices.Clone(p)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	sorted = slices.Compact(sorted)
	if len(sorted) > maxProblems {
		left := len(sorted) - maxProblems
		sorted = append(sorted[:maxProblems], Problem{
			File: sorted[0].File, Message: fmt.Sprintf("%d more problems are not shown", left),
		})
	}
	return sorted
}
