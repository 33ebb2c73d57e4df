package modbus

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
)

// An output that the site does not have is switched over and put back, word for word.
func TestABorrowedOutputIsSwitchedAndPutBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		profile      string
		output       int
		has          map[point]uint16
		other, after map[point]uint16 // while it shows itself, and what has to be there after it
		refused      string
	}{
		"a relay that is off": {"wirenboard-wb-mr6c", 2, nil, map[point]uint16{{coils, 1}: 1}, map[point]uint16{{coils, 1}: 0}, ""},
		"a relay that is on":  {"wirenboard-wb-mr6c", 2, map[point]uint16{{coils, 1}: 1}, map[point]uint16{{coils, 1}: 0}, map[point]uint16{{coils, 1}: 1}, ""},
		"a relay whose pair is on": {"wirenboard-wb-mr6c", 2, map[point]uint16{{coils, 0}: 1}, nil, nil,
			"the other relay of its pair is on"},
		"a dimmer that shines keeps its level": {"wirenboard-wb-mdm3", 1, map[point]uint16{{coils, 0}: 1, {holdings, 0}: 37},
			map[point]uint16{{coils, 0}: 0, {holdings, 0}: 37}, map[point]uint16{{coils, 0}: 1, {holdings, 0}: 37}, ""},
		"a dimmer that is off shines at its own level": {"wirenboard-wb-mdm3", 1, map[point]uint16{{holdings, 0}: 37},
			map[point]uint16{{coils, 0}: 1, {holdings, 0}: 37}, map[point]uint16{{coils, 0}: 0, {holdings, 0}: 37}, ""},
		"a dimmer that is off at level 0 gets one": {"wirenboard-wb-mdm3", 1, nil,
			map[point]uint16{{coils, 0}: 1, {holdings, 4}: 100}, map[point]uint16{{coils, 0}: 0, {holdings, 4}: 0}, ""},
		"a strip of four colours": {"wirenboard-wb-led-rgbw", 1, map[point]uint16{{coils, 9}: 1, {holdings, 2011}: 200},
			map[point]uint16{{coils, 9}: 0, {holdings, 2011}: 200}, map[point]uint16{{coils, 9}: 1, {coils, 3}: 0, {holdings, 2011}: 200}, ""},
		"an output that is not there": {"wirenboard-wb-mdm3", 4, nil, nil, nil, "outputs 1 to 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, b := bench(t, serialWire(t), nil, nil, nil)
				b.set(7, point{holdings, 200}, 0)
				for at, w := range tc.has {
					b.set(7, at, w)
				}
				loan, err := d.Borrow("7", tc.profile, tc.output)
				all := func(list []appliance.Exchange) {
					t.Helper()
					for _, e := range list {
						if _, err := do(t, e); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err == nil {
					all(loan.Read)
					err = loan.Err()
				}
				if tc.refused != "" {
					if err == nil || !strings.Contains(err.Error(), tc.refused) {
						t.Errorf("%v, want %q", err, tc.refused)
					}
					if w := b.written(); len(w) > 0 {
						t.Errorf("refused, and written all the same: %v", w)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for range 3 {
					all(loan.Other)
					for at, w := range tc.other {
						if got := b.get(7, at); got != w {
							t.Errorf("shown: %v is %d, want %d", at, got, w)
						}
					}
					all(loan.Back)
				}
				for at, w := range tc.after {
					if got := b.get(7, at); got != w {
						t.Errorf("put back: %v is %d, want %d", at, got, w)
					}
				}
				all(loan.Read)
				if err := loan.Err(); err != nil {
					t.Error(err)
				}
				b.set(7, point{loan7(tc.profile), 0}, 99)
				all(loan.Read)
				if err := loan.Err(); err == nil && strings.Contains(tc.profile, "mdm3") {
					t.Error("what somebody changed meanwhile passes for put back")
				}
			})
		})
	}
}

func loan7(profile string) table {
	if strings.Contains(profile, "mdm3") {
		return holdings
	}
	return coils
}

// A meter has nothing that shines, and a gateway's unknown level could not be put back.
func TestWhatCannotBePutBackIsNotBorrowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, _ := bench(t, serialWire(t), nil, nil, nil)
		if _, err := d.Borrow("7", "eastron-sdm120", 1); !errors.Is(err, appliance.ErrUnable) {
			t.Errorf("a meter: %v, want ErrUnable", err)
		}
	})
}
