//go:build soak

package main

import "testing"

// TestCampaignScanMissesNoMotor scans the 24 motors of the demo building ten times in
// a row; in every call of theirs nearly all answers collide.
func TestCampaignScanMissesNoMotor(t *testing.T) {
	h := bare(t, motorsSite(24))
	for i := range 10 {
		h.scanFindsAllMotors("")
		t.Logf("scan %d done", i+1)
	}
}
