package login

import (
	"context"
	"fmt"
	"net/netip"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// one is a store with a single user.
type one struct{ Store }

func (one) UserByName(_ context.Context, name string) (platform.User, string, error) {
	if name != "ada" {
		return platform.User{}, "", platform.ErrNotFound
	}
	return platform.User{ID: "1", Name: "ada"}, "", nil
}

// A flood of names from a whole network of addresses fills the table of the brake; what
// was tried on somebody's account stays known.
func TestAFloodOfNamesMakesTheBrakeForgetNobody(t *testing.T) {
	r := New(one{}, nil, Hall{})
	stranger := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }
	for i := range web.BrakeLimit - 1 {
		if _, wait := r.brake.Begin("ada", stranger(i)); wait > 0 {
			t.Fatalf("attempt %d was refused", i)
		}
	}
	for i := range 200_000 {
		r.brake.Begin(fmt.Sprint("name", i/web.BrakeLimit), stranger(1000+i))
	}
	for range web.BrakeSuspect {
		r.brake.Begin("ada", stranger(998))
	}
	if r.brake.Wait("ada", stranger(998)) == 0 {
		t.Error("the failures of an account were forgotten in a flood of other names")
	}
}
