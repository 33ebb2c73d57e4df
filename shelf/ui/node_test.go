//go:build peers

package ui_test

import (
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
)

func TestWhatDecidesInTheBrowser(t *testing.T) { uitest.Node(t) }
