package automation

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/cloud/wire"
)

// Who did not obey is told by name and in one word, for everything that can go wrong.
func TestExceptionsAreNamed(t *testing.T) {
	c := control.New(control.Options{})
	site := appliance.Site{}
	wrapped := func(err error) error { return fmt.Errorf("motor 06.00.01 on bus b (/dev/ttyUSB0): %w", err) }
	var members []appliance.Member
	var want []wire.Why
	for i, one := range []struct {
		m    appliance.Member
		want wire.Why
	}{
		{appliance.Member{Stage: appliance.StageObserved}, ""},
		{appliance.Member{Stage: appliance.StageUnverifiable}, ""},
		{appliance.Member{Offline: true}, wire.WhyOffline},
		{appliance.Member{Cause: wrapped(appliance.ErrSilent)}, wire.WhySilent},
		{appliance.Member{Cause: wrapped(appliance.ErrRefused)}, wire.WhyRefused},
		{appliance.Member{Cause: wrapped(appliance.ErrMismatch)}, wire.WhyElsewhere},
		{appliance.Member{Cause: wrapped(appliance.ErrExpired)}, wire.WhyLate},
		{appliance.Member{Cause: wrapped(appliance.ErrExpired), SentAt: time.Unix(1, 0), Stage: appliance.StageFailed}, wire.WhyUnconfirmed}, // acknowledged, and not read back in time
		{appliance.Member{Cause: wrapped(appliance.ErrBusDown)}, wire.WhyBus},
		{appliance.Member{Cause: wrapped(appliance.ErrSuperseded)}, wire.WhySuperseded},
		{appliance.Member{Cause: errors.New("?"), SentAt: time.Unix(1, 0), Stage: appliance.StageFailed}, wire.WhyUnconfirmed},
		{appliance.Member{Cause: errors.New("?")}, wire.WhyFailed},
	} {
		id := appliance.ID(i + 1)
		site.Nodes = append(site.Nodes, appliance.Node{ID: id, Name: fmt.Sprint("Lamp ", id)})
		one.m.Ref = appliance.Ref{Node: id, Channel: 1}
		if one.m.Cause != nil {
			one.m.Err = one.m.Cause.Error()
		}
		members = append(members, one.m)
		if one.want != "" {
			want = append(want, one.want)
		}
	}
	twice := members[len(members)-1] // another channel of the same lamp
	twice.Ref.Channel = 2
	c.Apply(site, nil)
	things, not := exceptions(c.Snapshot(), []outcome{{entry: appliance.Entry{Members: append(members, twice)}}})
	var got []wire.Why
	for _, x := range not {
		got = append(got, x.Why)
		if x.Name != fmt.Sprint("Lamp ", x.ID) || x.Kind != wire.KindNode {
			t.Errorf("named %+v", x)
		}
	}
	if things != len(members) || !slices.Equal(got, want) {
		t.Errorf("%d things, %v, want %d and %v", things, got, len(members), want)
	}
}
