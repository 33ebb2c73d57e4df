package drivertest

import "os"

// Size is how much is done of a campaign that only computes: long with SOAK=1, short else, and a tenth of short where races are looked
// for, which takes many times as long. make test does both of the latter.
func Size(short, long int) int {
	switch {
	case os.Getenv("SOAK") != "":
		return long
	case raced:
		return max(1, short/10)
	default:
		return short
	}
}
