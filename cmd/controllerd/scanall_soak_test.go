//go:build soak

package main

import "testing"

// TestCampaignScanMissesNoMotor scans the 24 motors of the demo building ten times in
// a row; in every call of theirs nearly all answers collide.
func TestCampaignScanMissesNoMotor(t *testing.T) {
	bareInBubble(t, motorsSite(24), func(t *testing.T, h *house) {
		for i := range 10 {
			h.scanFindsAllMotors("")
			t.Logf("scan %d done", i+1)
		}
	})
}
