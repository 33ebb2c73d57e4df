package sim

import (
	"os"
	"testing"

	"svc.internal/controller/drivers/drivertest"
)

func TestMain(m *testing.M) { os.Exit(drivertest.SideBySide(m, 8)) }
