package drivertest

import (
	"flag"
	"strconv"
	"testing"
)

// SideBySide runs the tests of a package, up to so many of the parallel ones at once
// (-parallel overrules it): nearly all of their time passes on simulated lines, and not
// on a processor.
func SideBySide(m *testing.M, atOnce int) (code int) {
	flag.Parse()
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "test.parallel" })
	if !told {
		flag.Set("test.parallel", strconv.Itoa(atOnce))
	}
	return m.Run()
}
