package automation

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// panels are those that the platform deployed, by device and panel ID. The default rules of platformControls hold for
// each of them.
type panels struct {
	rev  int64
	list []wire.Panel
}

// clusters that an action is for.
func (p *panels) clusters(a wire.WidgetAction) ([]appliance.ID, error) {
	if a.Origin == wire.OriginAPI {
		if a.Cluster <= 0 || a.Cluster > int64(appliance.MaxID) {
			return nil, fmt.Errorf("cluster %d: there is none", a.Cluster)
		}
		return []appliance.ID{appliance.ID(a.Cluster)}, nil
	}
	for _, panel := range p.list {
		if panel.DeviceID == a.DeviceID && panel.PanelID == a.PanelID {
			if ids := idsOf(panel); len(ids) > 0 {
				return ids, nil
			}
			return nil, fmt.Errorf("the panel in %q acts on no cluster; bind one", clip(panel.WorkspaceName))
		}
	}
	return nil, fmt.Errorf("no panel %s is deployed on device %q", clip(a.PanelID), clip(a.DeviceID))
}

func idsOf(p wire.Panel) []appliance.ID {
	var ids []appliance.ID
	for _, id := range p.Clusters {
		if id > 0 && id <= int64(appliance.MaxID) {
			ids = append(ids, appliance.ID(id))
		}
	}
	return ids
}

// Panels takes the platform's list of panels. Its time tells how far the clocks are apart, if it was sent just now.
func (a *Automation) Panels(m Message) {
	env, err := wire.Open(m.Payload)
	var cfg wire.Config
	if err == nil {
		err = env.Read(&cfg)
	}
	if err != nil {
		a.log.Warn("list of panels refused", "why", err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !m.Retained {
		a.gate.clock(env.TS, m.At)
	}
	if cfg.Rev < a.panels.rev {
		return
	}
	if cfg.Rev != a.panels.rev {
		a.log.Info("panels taken over", "rev", cfg.Rev, "panels", len(cfg.Panels))
	}
	a.panels = panels{cfg.Rev, cfg.Panels}
	select {
	case a.fresh <- struct{}{}:
	default:
	}
}

// Clock takes the time of an order that the platform sent just now.
func (a *Automation) Clock(ts, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gate.clock(ts, at)
}

// Deadline is when by this clock it is exp by the platform's.
func (a *Automation) Deadline(exp time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return exp.Add(-a.gate.skew)
}

// valuesEvery is how often panels are looked at while things change.
const valuesEvery = 200 * time.Millisecond

// Watch tells report what panels should show whenever that changes, at most every 200 ms, until ctx ends. The first
// report is of every panel.
func (a *Automation) Watch(ctx context.Context, report func([]wire.PanelValue)) {
	shown := map[[2]string]wire.PanelValue{}
	for {
		snap := a.core.Snapshot()
		if changed := a.changedValues(snap, shown); len(changed) > 0 {
			report(changed)
		}
		pause := time.NewTimer(valuesEvery)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
		select {
		case <-snap.Superseded():
		case <-a.fresh:
		case <-ctx.Done():
			return
		}
	}
}

// Values is what every panel should show now.
func (a *Automation) Values() []wire.PanelValue {
	return a.changedValues(a.core.Snapshot(), map[[2]string]wire.PanelValue{})
}

func (a *Automation) changedValues(snap *appliance.Snapshot, shown map[[2]string]wire.PanelValue) []wire.PanelValue {
	a.mu.Lock()
	list := a.panels.list
	a.mu.Unlock()
	var out []wire.PanelValue
	for _, p := range list {
		clusters := idsOf(p)
		now := wire.PanelValue{DeviceID: p.DeviceID, PanelID: p.PanelID, Widgets: values(snap, clusters), Scenes: offered(snap, clusters)}
		key := [2]string{p.DeviceID, p.PanelID}
		if old, ok := shown[key]; ok && maps.Equal(old.Widgets, now.Widgets) && slices.Equal(old.Scenes, now.Scenes) {
			continue
		}
		shown[key] = now
		out = append(out, now)
	}
	return out
}

// values is what a panel of these clusters should show. A room with some light on counts as on; what is not known is
// left out.
func values(snap *appliance.Snapshot, clusters []appliance.ID) map[string]string {
	var light, shade mean
	on := false
	for _, id := range clusters {
		c := snap.Cluster(id)
		if c == nil {
			continue
		}
		for _, n := range c.Cluster.Nodes {
			if s := snap.Node(n); s != nil && s.Online && s.IsLight() && s.Level.OK() {
				light.add(float64(s.Level.Value))
				on = on || s.Level.Value > 0
			}
		}
		for _, n := range c.Cluster.Shades {
			if s := snap.Shade(n); s != nil && s.Online && s.Position.OK() {
				shade.add(float64(s.Position.Value))
			}
		}
	}
	out := map[string]string{}
	if light.count > 0 {
		out[wire.LightPower] = "off"
		if on {
			out[wire.LightPower] = "on"
		}
		out[wire.LightBrightness] = strconv.Itoa(wire.SliderOf(light.value()))
	}
	if shade.count > 0 {
		p := shade.value()
		out[wire.ShadePosition] = strconv.Itoa(wire.SliderOf(p))
		out[wire.ShadePreset] = ""
		for name, at := range presets {
			if math.Abs(float64(int(at)-p)) <= presetNear {
				out[wire.ShadePreset] = name
			}
		}
	}
	return out
}

// presetNear is how far from a preset shades may stand to count as there, in percent points.
const presetNear = 2

type mean struct {
	sum   float64
	count int
}

func (m *mean) add(v float64) { m.sum += v; m.count++ }

// value is rounded half up.
func (m mean) value() int { return int(math.Floor(m.sum/float64(m.count) + 0.5)) }
