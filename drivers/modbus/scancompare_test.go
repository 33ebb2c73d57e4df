package modbus

import (
	"strings"
	"testing"

	"svc.internal/controller/appliance"
)

// Of a device that a scan cannot recognise it does not say that it is another one.
func TestAScanDeniesOnlyWhatItCouldRecognise(t *testing.T) {
	t.Parallel()
	own := &Profile{Name: "own"}
	other := []candidate{{profile: &Profile{Name: "other"}}}
	for _, tc := range []struct {
		own    Profile
		fits   []candidate
		denied bool
		detail string
	}{
		{Profile{Name: "own"}, other, false, "answers"},
		{Profile{Name: "own", Identify: []checkSpec{{}}}, other, true, "is not the own that the site says: answers"},
		{Profile{Name: "own", Identify: []checkSpec{{}}}, nil, false, "answers; the site says own"},
	} {
		*own = tc.own
		s := search{driver: &Driver{units: map[byte]*unit{3: {profile: own}}}}
		f := appliance.Found{Detail: "answers"}
		s.compare(&f, 3, tc.fits)
		if denied := f.Finding == appliance.FoundProfile; denied != tc.denied || !strings.HasPrefix(f.Detail, tc.detail) {
			t.Errorf("%+v: %+v", tc.own, f)
		}
	}
}
