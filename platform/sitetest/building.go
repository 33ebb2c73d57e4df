package sitetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"svc.internal/controller/platform"
)

// Location of the building.
var Location = must(time.LoadLocation("Europe/Berlin"))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Now is when the tests ask: a Wednesday afternoon.
var Now = time.Date(2026, 11, 18, 14, 32, 20, 0, Location)

// ID of the controller.
const ID = "harbour-house"

// The zones.
const (
	North, South, Lobby, Canteen, Corridor, Alps, Lakes, Workshop, Gallery, Lounge = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
)

// The meters.
const (
	GroundMeter, OfficeMeter, AlpsMeter, WorkshopMeter, LobbyMeter = 127, 128, 130, 129, 131
)

// Building is a platform's view of the building: it implements [platform.SiteReader] and [platform.Actuator].
type Building struct {
	mu sync.Mutex
	// What a test may change before it asks.
	Controller platform.Controller
	Site       platform.Building
	ZoneList   []platform.Zone
	DeviceList []platform.Device
	EventList  []platform.Event
	LedgerKept platform.Ledger
	ChangeList []platform.Change     // newest first
	Further    []platform.Controller // that have no devices
	Acted      []string              // what was ordered
	Refuse     map[int64]string      // clusters that do not obey, and why
}

// New makes the building as it is at [Now].
func New() *Building {
	b := &Building{
		Controller: platform.Controller{ID: ID, Name: "Harbour House", Online: true, LastSeen: Now.Add(-3 * time.Second), Firmware: "1.4.2"},
		Site: platform.Building{Controller: ID, Name: "Harbour House", TimeZone: "Europe/Berlin",
			Floors: []platform.Floor{
				{Name: "Ground floor", Zones: []int64{Lobby, Canteen, Corridor}, AreaM2: 640},
				{Name: "Upper floor", Zones: []int64{North, South, Alps, Lakes}, AreaM2: 910},
				{Name: "Annex", Zones: []int64{Workshop, Gallery}},
			},
			Meters: []platform.Meter{
				{Node: GroundMeter, Covers: "ground floor", Zones: []int64{Lobby, Canteen, Corridor}},
				{Node: OfficeMeter, Covers: "open offices", Zones: []int64{North, South}},
				{Node: WorkshopMeter, Covers: "workshop", Zones: []int64{Workshop}},
				{Node: AlpsMeter, Covers: "meeting room Alps", Zones: []int64{Alps}},
				{Node: LobbyMeter, Covers: "lobby", Zones: []int64{Lobby}},
			}},
		Refuse: map[int64]string{},
	}
	for i, name := range []string{"Open office north", "Open office south", "Lobby", "Canteen", "Corridor ground floor", "Meeting room Alps",
		"Meeting room Lakes", "Annex workshop", "Annex gallery", "Tower lounge"} {
		b.ZoneList = append(b.ZoneList, platform.Zone{Controller: ID, ID: int64(i + 1), Name: name})
	}
	b.lights()
	b.shades()
	b.meters()
	b.events()
	return b
}

// lights: levels are by zone; a few devices are special.
func (b *Building) lights() {
	id := int64(1)
	for _, z := range []struct {
		zone   int64
		name   string
		levels []float64
		tune   bool
	}{
		{North, "Open office north", []float64{80, 80, 80, 80, 60, 60, 0, 0}, false},
		{South, "Open office south", []float64{100, 100, 100, 100, 100, 100}, false},
		{Lobby, "Lobby", []float64{40, 40, 40, 40}, false},
		{Canteen, "Canteen", []float64{0, 0, 0, 0, 0}, false},
		{Corridor, "Corridor ground floor", []float64{25, 25, 25}, false},
		{Alps, "Alps", []float64{55, 55, 70}, true},
		{Lakes, "Lakes", []float64{0, 0, 0}, true},
		{Workshop, "Workshop", []float64{100, 100, 90, 0}, false},
		{Gallery, "Gallery", []float64{10, 0}, false},
		{Lounge, "Lounge", []float64{35}, false},
	} {
		for k, level := range z.levels {
			d := platform.Device{Controller: ID, Kind: platform.KindLight, ID: id, Name: fmt.Sprintf("%s %d", z.name, k+1), Zones: []int64{z.zone},
				Bus: "offices", Profile: "dali-dt6", Abilities: []string{"switch", "dim"}, Online: true, LastSeen: Now.Add(-4 * time.Second), ReportedAt: Now.Add(-2 * time.Second),
				Level: &platform.Reading{Value: level, At: Now.Add(-time.Duration(4+k) * time.Second), Source: "measured"}}
			if z.tune {
				d.Profile, d.Abilities = "dali-dt8-tc", append(d.Abilities, "tune")
				d.Kelvin = &platform.Reading{Value: 3000 + 500*float64(k), At: Now.Add(-6 * time.Second), Source: "measured"}
			}
			b.DeviceList = append(b.DeviceList, d)
			id++
		}
	}
	b.Light("Open office north 8", func(d *platform.Device) { // silent since this morning
		d.Online, d.LastSeen = false, time.Date(2026, 11, 18, 9, 5, 0, 0, Location)
		d.Level = &platform.Reading{Value: 80, At: d.LastSeen, Source: "measured"}
	})
	b.Light("Workshop 4", func(d *platform.Device) { // known from before a restart
		d.Level = &platform.Reading{Value: 100, At: Now.Add(-2 * time.Hour), Source: "restored"}
	})
	b.Light("Gallery 2", func(d *platform.Device) { d.Level = nil }) // never read
	b.Light("Canteen 3", func(d *platform.Device) { d.Trouble = "lamp failure" })
}

func (b *Building) shades() {
	for i, s := range []struct {
		name     string
		zone     int64
		position float64
	}{{"Lobby shade 1", Lobby, 100}, {"Lobby shade 2", Lobby, 60}, {"Canteen shade 1", Canteen, 0}, {"Canteen shade 2", Canteen, 0}, {"Lounge shade", Lounge, 30}} {
		b.DeviceList = append(b.DeviceList, platform.Device{Controller: ID, Kind: platform.KindShade, ID: int64(5001 + i), Name: s.name, Zones: []int64{s.zone}, Bus: "shades",
			Profile: "somfy-sonesse", Abilities: []string{"move", "position"}, Online: true, LastSeen: Now.Add(-5 * time.Second), ReportedAt: Now.Add(-2 * time.Second),
			Position: &platform.Reading{Value: s.position, At: Now.Add(-9 * time.Second), Source: "measured"}, Motion: "stopped"})
	}
	b.Light("Lobby shade 2", func(d *platform.Device) { d.Motion = "opening" })
	b.Light("Lounge shade", func(d *platform.Device) { d.Online, d.LastSeen = false, Now.Add(-26*time.Hour) })
}

func (b *Building) meters() {
	for _, m := range []struct {
		node int64
		name string
	}{{GroundMeter, "Meter ground floor"}, {OfficeMeter, "Meter open offices"}, {WorkshopMeter, "Meter workshop"}, {AlpsMeter, "Meter Alps"}, {LobbyMeter, "Meter lobby"}} {
		b.DeviceList = append(b.DeviceList, platform.Device{Controller: ID, Kind: platform.KindLight, ID: m.node, Name: m.name, Bus: "meters", Profile: "eastron-sdm120",
			Abilities: []string{"measure"}, Online: true, LastSeen: Now.Add(-2 * time.Second), ReportedAt: Now.Add(-2 * time.Second),
			Power: &platform.Reading{Value: Watts(m.node, Now), At: Now.Add(-8 * time.Second), Source: "measured"}})
	}
	b.DeviceList = append(b.DeviceList, platform.Device{Controller: ID, Kind: platform.KindPeripheral, ID: 140, Name: "Wall station lobby", Zones: []int64{Lobby}, Bus: "offices",
		Profile: "wall-station", Abilities: nil, Online: true, LastSeen: Now.Add(-time.Minute), ReportedAt: Now.Add(-2 * time.Second)})
}

func (b *Building) events() {
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, Location) }
	b.EventList = []platform.Event{ // newest first
		{Code: "node.offline", Severity: "fault", Kind: "node", Thing: 8, Name: "Open office north 8", Message: "does not answer", At: at(18, 9, 5)},
		{Code: "bus.down", Severity: "fault", Kind: "bus", Name: "shades", Message: "adapter unplugged", At: at(17, 16, 40), Cleared: true},
		{Code: "bus.down", Severity: "fault", Kind: "bus", Name: "shades", Message: "adapter unplugged", At: at(17, 16, 10)},
		{Code: "shade.offline", Severity: "fault", Kind: "shade", Thing: 5005, Name: "Lounge shade", Message: "does not answer", At: at(17, 12, 32)},
		{Code: "lamp.failure", Severity: "fault", Kind: "node", Thing: 21, Name: "Canteen 3", Message: "lamp failure", At: at(16, 7, 45)},
		{Code: "node.offline", Severity: "fault", Kind: "node", Thing: 15, Name: "Lobby 1", Message: "does not answer", At: at(12, 11, 0), Cleared: true},
		{Code: "node.offline", Severity: "fault", Kind: "node", Thing: 15, Name: "Lobby 1", Message: "does not answer", At: at(12, 10, 0)},
	}
}

// Light changes the device of that name, of any kind.
func (b *Building) Light(name string, change func(*platform.Device)) {
	for i := range b.DeviceList {
		if b.DeviceList[i].Name == name {
			change(&b.DeviceList[i])
			return
		}
	}
	panic("no device " + name)
}

// Watts is the true power behind a meter at a moment, constant within a minute.
func Watts(node int64, at time.Time) float64 {
	if k := minute(at); k >= 0 && k < len(known()[node]) {
		return known()[node][k].watts
	}
	return watts(node, at)
}

// Measured reports whether samples of a meter cover a minute.
func Measured(node int64, at time.Time) bool {
	if k := minute(at); k >= 0 && k < len(known()[node]) {
		return known()[node][k].measured
	}
	return measured(node, at)
}

// one minute of a meter.
type one struct {
	watts    float64
	measured bool
}

// first minute of those that are worked out once, since questions ask for the same ones over and over.
var first = time.Date(2026, 10, 5, 0, 0, 0, 0, Location)

func minute(at time.Time) int { return int(math.Floor(at.Sub(first).Minutes())) }

var known = sync.OnceValue(func() map[int64][]one {
	all := map[int64][]one{}
	for _, node := range []int64{GroundMeter, OfficeMeter, WorkshopMeter, AlpsMeter, LobbyMeter} {
		for at := first; at.Before(Now); at = at.Add(time.Minute) {
			all[node] = append(all[node], one{watts(node, at), measured(node, at)})
		}
	}
	return all
})

func watts(node int64, at time.Time) float64 {
	at = at.In(Location).Truncate(time.Minute)
	base := map[int64]float64{GroundMeter: 210, OfficeMeter: 340, WorkshopMeter: 95, AlpsMeter: 18, LobbyMeter: 70}[node]
	top := map[int64]float64{GroundMeter: 1800, OfficeMeter: 2600, WorkshopMeter: 1250, AlpsMeter: 160, LobbyMeter: 420}[node]
	hour := float64(at.Hour()) + float64(at.Minute())/60
	bell := math.Max(0, math.Sin((hour-6)/13*math.Pi)) // people are there from 6 to 19
	if hour < 6 || hour > 19 {
		bell = 0
	}
	if wd := at.Weekday(); wd == time.Saturday || wd == time.Sunday {
		bell *= 0.2
	}
	busy := 1 + 0.03*float64(at.YearDay()%11)
	night := 0.0
	if hour >= 22 || hour < 2 {
		night = 0.4 * base // something stays on
	}
	return math.Round((base+night+top*bell*busy)*10) / 10
}

func measured(node int64, at time.Time) bool {
	at = at.In(Location)
	if at.Before(begun(node)) || !at.Before(Now) {
		return false
	}
	gap := node == WorkshopMeter && at.Year() == 2026 && at.Month() == time.November && at.Day() == 17 && at.Hour() >= 2 && at.Hour() < 5
	return !gap
}

// begun is when a meter's first sample arrived.
func begun(node int64) time.Time {
	if node == LobbyMeter {
		return time.Date(2026, 11, 17, 10, 0, 0, 0, Location)
	}
	return time.Date(2026, 10, 5, 0, 0, 0, 0, Location)
}

// Controllers implements [platform.SiteReader].
func (b *Building) Controllers(context.Context) ([]platform.Controller, error) {
	return append([]platform.Controller{b.Controller}, b.Further...), nil
}

func (b *Building) known(controller string) error {
	if controller == b.Controller.ID || slices.ContainsFunc(b.Further, func(c platform.Controller) bool { return c.ID == controller }) {
		return nil
	}
	return platform.ErrNotFound
}

// Building implements [platform.SiteReader].
func (b *Building) Building(_ context.Context, controller string) (platform.Building, error) {
	if controller != b.Controller.ID {
		return platform.Building{Controller: controller}, b.known(controller)
	}
	return b.Site, nil
}

// Zones implements [platform.SiteReader].
func (b *Building) Zones(_ context.Context, controller string) ([]platform.Zone, error) {
	if controller != b.Controller.ID {
		return nil, b.known(controller)
	}
	return slices.Clone(b.ZoneList), nil
}

// Devices implements [platform.SiteReader].
func (b *Building) Devices(_ context.Context, controller string) ([]platform.Device, error) {
	if controller != b.Controller.ID {
		return nil, b.known(controller)
	}
	return slices.Clone(b.DeviceList), nil
}

// Events implements [platform.SiteReader].
func (b *Building) Events(_ context.Context, controller string, from, to time.Time, limit int) ([]platform.Event, error) {
	var found []platform.Event
	for _, e := range b.EventList {
		if controller == b.Controller.ID && !e.At.Before(from) && e.At.Before(to) && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, b.known(controller)
}

// Energy implements [platform.SiteReader]: minutes within 48 hours, quarters of an hour before.
func (b *Building) Energy(_ context.Context, controller string, node int64, from, to time.Time) ([]platform.Energy, error) {
	var rows []platform.Energy
	fine := Now.Add(-48 * time.Hour).Truncate(15 * time.Minute)
	for at := from.Truncate(time.Minute); at.Before(to); {
		length := time.Minute
		if at.Before(fine) {
			at = at.Truncate(15 * time.Minute)
			length = 15 * time.Minute
		}
		row := platform.Energy{Start: at, Length: length}
		covered := 0
		for m := at; m.Before(at.Add(length)); m = m.Add(time.Minute) {
			if Measured(node, m) {
				covered++
				row.WattHours += Watts(node, m) / 60
			}
		}
		row.Covered = float64(covered) / length.Minutes()
		if covered > 0 && !at.Before(from) {
			rows = append(rows, row)
		}
		at = at.Add(length)
	}
	return rows, b.known(controller)
}

// MeasuredSince implements [platform.SiteReader].
func (b *Building) MeasuredSince(_ context.Context, controller string, node int64) (time.Time, error) {
	return begun(node), b.known(controller)
}

// Act implements [platform.Actuator].
func (b *Building) Act(_ context.Context, controller string, cluster int64, do platform.Action) (platform.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what := "stop"
	if do.Level != nil {
		what = fmt.Sprintf("level %d", *do.Level)
	}
	if do.Position != nil {
		what = fmt.Sprintf("position %d", *do.Position)
	}
	b.Acted = append(b.Acted, fmt.Sprintf("%s/%d %s", controller, cluster, what))
	if why := b.Refuse[cluster]; why != "" {
		return platform.Outcome{Detail: why}, nil
	}
	return platform.Outcome{Done: true, Command: "c-1"}, nil
}
