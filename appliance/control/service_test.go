package control_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Services of the copper: one that asks a device three times.
func (c *copper) Services() []appliance.Service {
	return []appliance.Service{{
		Name: "ask", About: "ask three times", Inputs: []appliance.Input{{Name: "address", About: "of the device", Required: true}, {Name: "loud", About: "yes or no"}},
		Run: func(ctx context.Context, s appliance.Session) error {
			for i := range 3 {
				s.Tell(appliance.ServiceStep{Step: "asking", Share: float64(i) / 3})
				if _, err := s.Perform(ctx, c.exchange(1, false, "asked", func() []appliance.Reading { return nil })); err != nil {
					return err
				}
			}
			s.Tell(appliance.ServiceStep{Address: s.Inputs["address"], Facts: []appliance.Fact{{Name: "answers", Value: 3}}})
			return nil
		},
	}}
}

func TestServiceDoesItsJobBetweenTheBussOwnExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		var steps, results int
		err := ctl.Serve(t.Context(), "test", "ask", map[string]string{"address": "1"}, func(told appliance.ServiceStep) {
			if told.Step != "" {
				steps++
				return
			}
			results++
			if told.Address != "1" || len(told.Facts) != 1 || told.Facts[0].Value != 3 {
				t.Errorf("told %+v", told)
			}
		})
		if err != nil || steps != 3 || results != 1 {
			t.Errorf("%v after %d steps and %d results, want 3 and 1", err, steps, results)
		}
	})
}

func TestServiceSaysWhatItHasToBeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl, stop := run(t, newCopper(), siteOf("dimmer"), nil)
		defer stop()
		for _, c := range []struct {
			job    string
			inputs map[string]string
			want   string
		}{
			{"sing", nil, "it has ask"},
			{"ask", nil, "input address is missing: of the device"},
			{"ask", map[string]string{"address": "1", "color": "red"}, `input "color" is unknown; it takes address, loud`},
		} {
			err := ctl.Serve(t.Context(), "test", c.job, c.inputs, func(appliance.ServiceStep) { t.Error("something was told") })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %v: %v, want %q", c.job, c.inputs, err, c.want)
			}
		}
		if _, err := ctl.Services("nowhere"); !errors.Is(err, appliance.ErrNotFound) {
			t.Errorf("a bus that is not there: %v", err)
		}
	})
}

func TestServiceEndsWhenItsBusIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := run(t, c, siteOf("dimmer"), nil)
		defer stop()
		time.Sleep(time.Second)
		pull := func(appliance.ServiceStep) { c.set(func() { c.down = fmt.Errorf("%w: pulled", appliance.ErrBusDown) }) }
		for _, most := range []time.Duration{30*time.Second + time.Second, time.Second} { // in the middle, then before it
			began := time.Now()
			err := ctl.Serve(t.Context(), "test", "ask", map[string]string{"address": "1"}, pull)
			if took := time.Since(began); !errors.Is(err, appliance.ErrBusDown) || took > most {
				t.Errorf("got %v after %v, want a bus that is down after %v", err, took, most)
			}
		}
	})
}
