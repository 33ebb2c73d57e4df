//go:build peers

package pages

import (
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
)

func TestWhatDecidesInTheBrowser(t *testing.T) { uitest.Node(t) }
