package platform

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var (
	now     = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	earlier = now.Add(-time.Hour)
	later   = now.Add(time.Hour)
)

// Every state a key can be in, by how it came there.
func keyIn(state string) Key {
	k := Key{Name: "k", RateLimit: 100, CreatedAt: earlier}
	switch state {
	case "active":
	case "active with expiresAt":
		k.ExpiresAt = later
	case "expired":
		k.ExpiresAt = earlier
	case "switched off":
		k.RevokedAt = earlier
	case "switched off, expiresAt passed":
		k.RevokedAt, k.ExpiresAt = earlier, earlier
	case "deleted":
		k.RevokedAt, k.Ended = earlier, true
	case "deleted, expiresAt passed":
		k.RevokedAt, k.Ended, k.ExpiresAt = earlier, true, earlier
	default:
		panic(state)
	}
	return k
}

func TestTransitionsOfAKey(t *testing.T) {
	change := func(c KeyChange) func(*Key) error { return func(k *Key) error { return k.Change(c, now) } }
	triggers := map[string]func(*Key) error{
		"isActive true":    change(KeyChange{Active: new(true)}),
		"isActive false":   change(KeyChange{Active: new(false)}),
		"later expiresAt":  change(KeyChange{ExpiresAt: &later}),
		"past expiresAt":   change(KeyChange{ExpiresAt: &earlier}),
		"expiresAt null":   change(KeyChange{ExpiresAt: new(time.Time{})}),
		"rename":           change(KeyChange{Name: new("other")}),
		"later and active": change(KeyChange{ExpiresAt: &later, Active: new(true)}),
		"DELETE":           func(k *Key) error { k.Revoke(now); return nil },
		"time passes":      nil,
	}
	// from → trigger → to; a state with ! is one that the trigger is refused in.
	for _, row := range []struct {
		from, trigger string
		to            Status
		refused       bool
	}{
		{"active", "isActive true", Active, false},
		{"active", "isActive false", Revoked, false},
		{"active", "later expiresAt", Active, false},
		{"active", "past expiresAt", Expired, false},
		{"active", "expiresAt null", Active, false},
		{"active", "rename", Active, false},
		{"active", "later and active", Active, false},
		{"active", "DELETE", Revoked, false},
		{"active", "time passes", Active, false},

		{"active with expiresAt", "isActive true", Active, false},
		{"active with expiresAt", "isActive false", Revoked, false},
		{"active with expiresAt", "past expiresAt", Expired, false},
		{"active with expiresAt", "expiresAt null", Active, false},
		{"active with expiresAt", "DELETE", Revoked, false},
		{"active with expiresAt", "time passes", Expired, false},

		{"expired", "isActive true", Expired, true},
		{"expired", "isActive false", Expired, true},
		{"expired", "later expiresAt", Active, false},
		{"expired", "past expiresAt", Expired, false},
		{"expired", "expiresAt null", Active, false},
		{"expired", "rename", Expired, false},
		{"expired", "later and active", Active, false},
		{"expired", "DELETE", Revoked, false},
		{"expired", "time passes", Expired, false},

		{"switched off", "isActive true", Active, false},
		{"switched off", "isActive false", Revoked, false},
		{"switched off", "later expiresAt", Revoked, false},
		{"switched off", "past expiresAt", Revoked, false},
		{"switched off", "expiresAt null", Revoked, false},
		{"switched off", "rename", Revoked, false},
		{"switched off", "later and active", Active, false},
		{"switched off", "DELETE", Revoked, false},
		{"switched off", "time passes", Revoked, false},

		{"switched off, expiresAt passed", "isActive true", Revoked, true},
		{"switched off, expiresAt passed", "isActive false", Revoked, false},
		{"switched off, expiresAt passed", "later expiresAt", Revoked, false},
		{"switched off, expiresAt passed", "later and active", Active, false},
		{"switched off, expiresAt passed", "expiresAt null", Revoked, false},
		{"switched off, expiresAt passed", "DELETE", Revoked, false},

		{"deleted", "isActive true", Revoked, true},
		{"deleted", "isActive false", Revoked, true},
		{"deleted", "later expiresAt", Revoked, false},
		{"deleted", "past expiresAt", Revoked, false},
		{"deleted", "expiresAt null", Revoked, false},
		{"deleted", "rename", Revoked, false},
		{"deleted", "later and active", Revoked, true},
		{"deleted", "DELETE", Revoked, false},
		{"deleted", "time passes", Revoked, false},

		{"deleted, expiresAt passed", "isActive true", Revoked, true},
		{"deleted, expiresAt passed", "later expiresAt", Revoked, false},
	} {
		t.Run(row.from+", "+row.trigger, func(t *testing.T) {
			k, at := keyIn(row.from), now
			before := k
			var err error
			if do := triggers[row.trigger]; do != nil {
				err = do(&k)
			} else {
				at = later.Add(time.Second)
			}
			if got := k.Status(at); got != row.to {
				t.Errorf("got %s, want %s", got, row.to)
			}
			if errors.Is(err, ErrConflict) != row.refused || (err != nil) != row.refused {
				t.Errorf("got error %v, want a conflict: %v", err, row.refused)
			}
			if row.refused && k != before {
				t.Errorf("a refused change did something: %+v became %+v", before, k)
			}
		})
	}
}

// A key that was revoked for good never works again, whatever is tried in whatever
// order, and one that works has neither been switched off nor has its time passed.
func TestNoSequenceOfChangesBringsADeletedKeyBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		k, at, deleted := Key{Name: "k", RateLimit: 1}, now, false
		for range 30 {
			at = at.Add(time.Duration(random.IntN(60)) * time.Minute)
			switch random.IntN(5) {
			case 0:
				_ = k.Change(KeyChange{Active: new(random.IntN(2) == 0)}, at)
			case 1:
				moved := at.Add(time.Duration(random.IntN(240)-60) * time.Minute)
				_ = k.Change(KeyChange{ExpiresAt: &moved}, at)
			case 2:
				_ = k.Change(KeyChange{ExpiresAt: new(time.Time{})}, at)
			case 3:
				moved := at.Add(time.Duration(random.IntN(240)-60) * time.Minute)
				_ = k.Change(KeyChange{ExpiresAt: &moved, Active: new(true)}, at)
			case 4:
				if random.IntN(8) == 0 {
					k.Revoke(at)
					deleted = true
				}
			}
			status := k.Status(at)
			if deleted && status != Revoked {
				t.Fatalf("a deleted key is %s: %+v", status, k)
			}
			if status == Active && !k.ExpiresAt.IsZero() && !at.Before(k.ExpiresAt) {
				t.Fatalf("a key is active at %v: %+v", at, k)
			}
		}
	}
}

func TestAKeyExpiresAtItsMomentAndNotBefore(t *testing.T) {
	k := Key{ExpiresAt: later}
	if got := k.Status(later.Add(-time.Nanosecond)); got != Active {
		t.Errorf("just before: %s", got)
	}
	if got := k.Status(later); got != Expired {
		t.Errorf("at the moment: %s", got)
	}
}

func TestBoundsOfAKey(t *testing.T) {
	good := Key{Name: "k", RateLimit: 100}
	for name, c := range map[string]struct {
		change func(*Key)
		ok     bool
	}{
		"as it is":                  {func(*Key) {}, true},
		"name of 1":                 {func(k *Key) { k.Name = "x" }, true},
		"name of 100":               {func(k *Key) { k.Name = strings.Repeat("ä", 100) }, true},
		"name of 101":               {func(k *Key) { k.Name = strings.Repeat("x", 101) }, false},
		"empty name":                {func(k *Key) { k.Name = "" }, false},
		"blank name":                {func(k *Key) { k.Name = " \t" }, false},
		"name with a zero byte":     {func(k *Key) { k.Name = "a\x00b" }, false},
		"name that turns the line":  {func(k *Key) { k.Name = "a\u202eb" }, false},
		"rateLimit 1":               {func(k *Key) { k.RateLimit = 1 }, true},
		"rateLimit 100000":          {func(k *Key) { k.RateLimit = 100_000 }, true},
		"rateLimit 0":               {func(k *Key) { k.RateLimit = 0 }, false},
		"rateLimit -1":              {func(k *Key) { k.RateLimit = -1 }, false},
		"rateLimit 100001":          {func(k *Key) { k.RateLimit = 100_001 }, false},
		"expiresAt in the past":     {func(k *Key) { k.ExpiresAt = earlier }, false},
		"expiresAt now":             {func(k *Key) { k.ExpiresAt = now }, false},
		"expiresAt in a nanosecond": {func(k *Key) { k.ExpiresAt = now.Add(1) }, true},
	} {
		k := good
		c.change(&k)
		if err := CheckNewKey(k, now); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ok %v", name, err, c.ok)
		}
	}
}

func TestValuesOfKeys(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		value, prefix := NewKeyValue()
		if !IsKeyValue(value) || seen[value] || len(value) != 68 || value[4:12] != prefix {
			t.Fatalf("made %q with prefix %q", value, prefix)
		}
		seen[value] = true
	}
	for _, bad := range []string{"", "svc_", "svc_" + strings.Repeat("a", 63), "svc_" + strings.Repeat("a", 65),
		"svc_" + strings.Repeat("A", 64), "svc_" + strings.Repeat("g", 64), "ctl_" + strings.Repeat("a", 64), strings.Repeat("a", 68)} {
		if IsKeyValue(bad) {
			t.Errorf("%q was taken for a key", bad)
		}
	}
}
