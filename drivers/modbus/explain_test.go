package modbus

import (
	"errors"
	"fmt"
	"testing"

	"svc.internal/controller/appliance"
)

// What came garbled is damage, unless the program itself woke too late: then it proves nothing of the device.
func TestGarbledIsDamage(t *testing.T) {
	d := &Driver{name: "rtu"}
	for err, damaged := range map[error]bool{
		appliance.ErrSilent:  true,
		appliance.ErrBusDown: false,
		fmt.Errorf("%w: %w", appliance.ErrOverslept, appliance.ErrSilent): false,
	} {
		got := d.explain(request{unit: 3}, &listener{passed: "2 bytes", garbled: true}, err)
		if errors.Is(got, appliance.ErrDamaged) != damaged || !damaged && !errors.Is(got, err) {
			t.Errorf("%v: %v, want damage %v", err, got, damaged)
		}
	}
}
