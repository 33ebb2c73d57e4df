package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"text/tabwriter"
)

// Table writes a report for people.
func (r Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "VERDICT\tSOURCE\tROW\tWHAT")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", row.Verdict, row.Source, row.ID, row.About)
		if row.Detail != "" {
			fmt.Fprintf(t, "\t\t\t  %s\n", row.Detail)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, "note: "+n)
	}
	_, err := fmt.Fprintf(w, "%s: %d passed, %d failed, %d differ from our decisions, %d skipped\n", r.URL, r.Passed, r.Failed, r.Differs, r.Skipped)
	return err
}

// The form of JUnit, as build servers read it.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Time    string     `xml:"time,attr"`
		Failure *junitNote `xml:"failure"`
		Skipped *junitNote `xml:"skipped"`
	}
	junitNote struct {
		Message string `xml:"message,attr"`
	}
)

// JUnit writes a report for build servers. Differences from our decisions are failures
// only if strict.
func (r Report) JUnit(w io.Writer, strict bool) error {
	suite := junitSuite{Name: "controller conformance", Tests: len(r.Rows)}
	for _, row := range r.Rows {
		c := junitCase{Class: "conformance." + string(row.Source), Name: row.ID + ": " + row.About, Time: fmt.Sprintf("%.3f", row.Took.Seconds())}
		switch {
		case row.Verdict == Failed, strict && row.Verdict == Differs:
			c.Failure = &junitNote{row.Detail}
			suite.Failures++
		case row.Verdict != Passed:
			c.Skipped = &junitNote{string(row.Verdict) + ": " + row.Detail}
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
