package scan

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

var errLost = errors.New("lost")

// carry does every step of a scan as the core does, up to most, and returns what was told.
func carry(most int, words func(*Course)) (told []appliance.Found, addresses []string) {
	for step := range Steps(words) {
		if len(addresses) == most {
			break
		}
		addresses = append(addresses, step.Address)
		res, err := step.Exchange.Do(context.Background(), appliance.Yield{})
		if f, ok := step.Judge(res, err); ok {
			told = append(told, f)
		}
	}
	return told, addresses
}

func question(err error) appliance.Exchange {
	return appliance.Exchange{Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
		return appliance.Result{Sent: time.Unix(1, 0)}, err
	}}
}

func TestAskGivesWhatBecameOfTheQuestion(t *testing.T) {
	told, addresses := carry(10, func(c *Course) {
		if res, err := c.Ask("1", question(nil)); err != nil || res.Sent.IsZero() {
			t.Errorf("answered: %+v, %v, want when it was sent, and no error", res, err)
		}
		if _, err := c.Ask("2", question(errLost)); !errors.Is(err, errLost) {
			t.Errorf("lost: %v, want %v", err, errLost)
		}
		c.Tell(appliance.Found{Address: "3"})
		c.AskAndTell("4", question(errLost), func(err error) appliance.Found {
			return appliance.Found{Address: "4", Detail: err.Error()}
		})
	})
	if want := []string{"1", "2", "3", "4"}; !slices.Equal(addresses, want) {
		t.Errorf("steps at %q, want %q", addresses, want)
	}
	if len(told) != 2 || told[0].Address != "3" || told[1].Detail != "lost" {
		t.Errorf("told %+v, want of 3, and of 4 that it was lost", told)
	}
}

func TestNothingIsAskedWhenNobodyWantsToKnow(t *testing.T) {
	_, addresses := carry(1, func(c *Course) {
		c.Ask("1", question(nil))
		if _, err := c.Ask("2", question(nil)); !errors.Is(err, ErrOver) || !c.Over() {
			t.Errorf("a question that nobody had asked ended with %v, want %v", err, ErrOver)
		}
		c.Tell(appliance.Found{Address: "3"})
		c.Listen(1000)
	})
	if want := []string{"1"}; !slices.Equal(addresses, want) {
		t.Errorf("steps at %q, want %q", addresses, want)
	}
}

func TestEndEndsTheScan(t *testing.T) {
	told, _ := carry(10, func(c *Course) {
		c.End()
		c.Tell(appliance.Found{Address: "1"})
	})
	if len(told) != 0 {
		t.Errorf("told %+v after the end, want nothing", told)
	}
}

func TestListeningLeavesTheLineAloneASliceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := 0
		for step := range Steps(func(c *Course) { c.Listen(3) }) {
			steps++
			begun := time.Now()
			if _, err := step.Exchange.Do(t.Context(), appliance.Yield{}); err != nil {
				t.Fatal(err)
			}
			if e, took := step.Exchange, time.Since(begun); took != 50*time.Millisecond || e.Airtime != took || e.Worst != took {
				t.Errorf("a step took %v, announced as %v, and %v at worst; want 50ms", took, e.Airtime, e.Worst)
			}
			step.Judge(appliance.Result{}, nil)
		}
		if steps != 3 {
			t.Errorf("%d steps, want 3", steps)
		}

		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Silence(time.Hour).Do(over, appliance.Yield{}); !errors.Is(err, context.Canceled) {
			t.Errorf("silence on a bus that ended came to %v, want %v", err, context.Canceled)
		}
	})
}

func TestEachFrameIsOverheardOnce(t *testing.T) {
	before := appliance.Frame{At: time.Now().Add(-time.Second), Bytes: []byte{0}}
	for name, recorded := range map[string][]appliance.Frame{"after others": {before}, "from the first on": nil} {
		t.Run(name, func(t *testing.T) {
			passes := func(bytes ...byte) appliance.Exchange {
				return appliance.Exchange{Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
					now := time.Now()
					for _, b := range bytes { // two may come at one moment
						recorded = append(recorded, appliance.Frame{At: now, Bytes: []byte{b}})
					}
					return appliance.Result{}, nil
				}}
			}
			var heard []byte
			times := 0
			carry(10, func(c *Course) {
				c.Overhear(func() []appliance.Frame { return recorded }, func(frames []appliance.Frame) {
					times++
					for _, f := range frames {
						heard = append(heard, f.Bytes...)
					}
				})
				c.Ask("1", passes(1, 2))
				c.Ask("2", passes())
				c.Ask("3", passes(3))
				c.Ask("4", passes())
			})
			if want := []byte{1, 2, 3}; !slices.Equal(heard, want) || times != 4 {
				t.Errorf("heard %v in %d steps, want %v in 4", heard, times, want)
			}
		})
	}
}

func TestPatienceIsRoundAndBounded(t *testing.T) {
	for needed, want := range map[time.Duration]time.Duration{
		201 * time.Millisecond: 300 * time.Millisecond,
		300 * time.Millisecond: 300 * time.Millisecond,
		5 * time.Second:        2 * time.Second,
	} {
		if got := Patience(needed, 2*time.Second); got != want {
			t.Errorf("%v needed: %v advised, want %v", needed, got, want)
		}
	}
}

// What this machine was too late to hear is asked again, and told of nobody.
func TestWhatWasOversleptIsAskedAgain(t *testing.T) {
	asked := 0
	e := appliance.Exchange{Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
		if asked++; asked < 3 {
			return appliance.Result{}, appliance.ErrOverslept
		}
		return appliance.Result{}, errLost
	}}
	told, addresses := carry(10, func(c *Course) {
		_, err := c.AskAndTell("1", e, func(err error) appliance.Found { return appliance.Found{Address: "1", Detail: err.Error()} })
		if !errors.Is(err, errLost) {
			t.Errorf("in the end: %v, want %v", err, errLost)
		}
	})
	if len(addresses) != 3 || len(told) != 1 || told[0].Detail != "lost" {
		t.Errorf("asked at %q, told %+v; want thrice, and that it was lost", addresses, told)
	}
}
