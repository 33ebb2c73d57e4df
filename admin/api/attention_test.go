package api

import (
	"fmt"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/board"
)

// annex is a bus with two devices.
func annex() (*appliance.Snapshot, *appliance.BusState) {
	b := &appliance.BusState{Bus: &appliance.Bus{UUID: appliance.NewUUID(), Name: "annex", Port: "rtu+tcp://192.0.2.1:4001"}, Up: true, Devices: []appliance.DeviceState{
		{Device: "5", Online: true, LastSeen: time.Date(2026, 3, 4, 6, 40, 0, 0, time.UTC), Nodes: []appliance.ID{1}},
		{Device: "6", Online: true, LastSeen: time.Date(2026, 3, 4, 6, 41, 0, 0, time.UTC), Nodes: []appliance.ID{2}},
	}}
	return &appliance.Snapshot{Site: &appliance.Site{}, Buses: []*appliance.BusState{b}}, b
}

// looks at a building once a second for so long, and gives what is told then.
func looks(d *desk, s *appliance.Snapshot, at *time.Time, long time.Duration) Attention {
	for end := at.Add(long); at.Before(end); *at = at.Add(time.Second) {
		d.look(s, *at)
	}
	return d.now.Load().attention
}

// What is of the controller itself is told as what is of the building: after ten seconds, until it is over, put aside or not.
func TestWhatIsOfTheControllerItselfIsTold(t *testing.T) {
	s, _ := annex()
	now := board.State{Zones: []board.Zone{{Name: "cpu", Celsius: 81}}, Hot: true, Power: board.Weak}
	why := "no route"
	a := &API{Config: Config{Within: Within{Board: func() board.State { return now }, Unenrolled: func() string { return why }}}}
	d, at := newDesk(), time.Date(2026, 3, 4, 7, 0, 0, 0, time.UTC)
	told := func(long time.Duration) (kinds string) {
		for end := at.Add(long); at.Before(end); at = at.Add(time.Second) {
			d.look(s, at, a.besides()...)
		}
		for _, c := range d.now.Load().attention.Concerns {
			kinds += c.Kind + " "
		}
		return kinds
	}
	if got := told(5 * time.Second); got != "" {
		t.Errorf("after five seconds: %s", got)
	}
	if got := told(10 * time.Second); got != "power-weak too-hot not-enrolled " {
		t.Errorf("after fifteen seconds: %s", got)
	}
	if got := boardOf(now); got == nil || got.Power != "weak" || !got.TooHot || got.Temperatures[0] != (Temperature{"cpu", 81}) || got.PowerWeakAt != nil {
		t.Errorf("health: %+v", got)
	}
	now, why = board.State{}, ""
	if got := told(time.Second); got != "" || boardOf(now) != nil {
		t.Errorf("when it is over: %s, %+v", got, boardOf(now))
	}
}

// Only what lasts is told; a bus of which nothing answers is one thing, and stays until it answers.
func TestWhatNeedsSomebodyIsToldUntilItIsOver(t *testing.T) {
	s, b := annex()
	d, at := newDesk(), time.Date(2026, 3, 4, 7, 0, 0, 0, time.UTC)
	if got := looks(d, s, &at, time.Minute); len(got.Concerns) != 0 {
		t.Fatalf("of a building in order is told %+v", got)
	}
	b.Devices[0].Online, b.Devices[0].Why = false, "no answer to a read"
	if got := looks(d, s, &at, 5*time.Second); len(got.Concerns) != 0 {
		t.Errorf("after five seconds is told %+v", got)
	}
	got := looks(d, s, &at, 10*time.Second)
	if len(got.Concerns) != 1 || got.Concerns[0].Kind != "device-silent" || got.Concerns[0].Device != "5" || !got.Concerns[0].Since.Equal(b.Devices[0].LastSeen) {
		t.Fatalf("of a silent device is told %+v", got)
	}
	b.Devices[1].Online, b.Devices[1].Why = false, "no answer to a read"
	got = looks(d, s, &at, 15*time.Second)
	if len(got.Concerns) != 1 || got.Concerns[0].Kind != "bus-silent" || !got.Concerns[0].Since.Equal(b.Devices[1].LastSeen) || !got.Concerns[0].Network || len(got.Concerns[0].Nodes) != 2 {
		t.Fatalf("of a silent bus is told %+v", got)
	}
	b.Devices[0].Online, b.Devices[1].Online, b.Devices[1].Trouble = true, true, "lamp failure"
	got = looks(d, s, &at, 15*time.Second)
	if len(got.Concerns) != 1 || got.Concerns[0].Kind != "device-trouble" || got.Concerns[0].What != "lamp failure" {
		t.Errorf("of a lamp that failed is told %+v", got)
	}
	for n := range 15 { // what is counted meanwhile is one thing
		b.Devices[1].Trouble = fmt.Sprintf("talks unasked, %d times lately", n)
		got = looks(d, s, &at, time.Second)
	}
	if len(got.Concerns) != 1 || got.Concerns[0].What != b.Devices[1].Trouble {
		t.Errorf("of a device that talks on and on is told %+v", got)
	}
	b.Devices[1].Trouble = ""
	if got := looks(d, s, &at, time.Second); len(got.Concerns) != 0 {
		t.Errorf("when all is over is told %+v", got)
	}
	b.Bus.Disabled, b.Devices[0].Online = true, false
	if got := looks(d, s, &at, 20*time.Second); len(got.Concerns) != 0 {
		t.Errorf("of a bus that is switched off is told %+v", got)
	}
}

// What was put aside stays so while it flickers and while nobody knows, as after a start; when it was over it comes back.
func TestWhatIsPutAsideComesBackWhenItHappensAnew(t *testing.T) {
	s, b := annex()
	d, at := newDesk(), time.Date(2026, 3, 4, 7, 0, 0, 0, time.UTC)
	silent := func(yes bool) {
		for i := range b.Devices {
			b.Devices[i].Online, b.Devices[i].Why = !yes, ""
			if yes {
				b.Devices[i].Why = "no answer"
			}
		}
	}
	aside := func() bool {
		got := looks(d, s, &at, 20*time.Second)
		if len(got.Concerns) != 1 || got.Concerns[0].Kind != "bus-silent" {
			t.Fatalf("told is %+v", got)
		}
		return got.Concerns[0].Aside != nil
	}
	silent(true)
	if aside() {
		t.Fatal("it is put aside before anybody has seen it")
	}
	key := d.now.Load().attention.Concerns[0].Key
	a := appliance.Aside{Key: key, By: "ana", At: at}
	if c, ok := d.put(key, &a); !ok || c.Aside.By != "ana" {
		t.Fatalf("put aside it is %+v, %v", c, ok)
	}
	silent(false)
	if got := looks(d, s, &at, time.Minute); len(got.Concerns) != 0 {
		t.Errorf("while it answers is told %+v", got)
	}
	silent(true)
	if !aside() {
		t.Error("a minute in order ended that it was put aside")
	}

	d = newDesk() // the daemon was started again
	d.asides[key] = a
	for i := range b.Devices {
		b.Devices[i].Online, b.Devices[i].Why = false, "" // nobody has been asked yet
	}
	looks(d, s, &at, 10*time.Minute)
	silent(true)
	if !aside() {
		t.Error("a start ended that it was put aside")
	}

	silent(false)
	looks(d, s, &at, overFor+2*time.Second)
	silent(true)
	if aside() {
		t.Error("it happened anew and is put aside still")
	}
	if _, ok := d.put(key, &a); !ok {
		t.Fatal("it cannot be put aside again")
	}
	if d.put(key, nil); aside() {
		t.Error("it was taken back and is put aside still")
	}
	d.put(key, &a)
	s.Buses = nil
	var over []string
	for end := at.Add(overFor + time.Minute); at.Before(end); at = at.Add(time.Second) {
		over = append(over, d.look(s, at)...)
	}
	if len(over) != 1 || over[0] != key {
		t.Errorf("of a bus that is gone was forgotten %v", over)
	}
}

// Copies of backups that do not leave the box are told of, put aside, and over with the next one.
func TestBackupsThatStayInTheBoxAreTold(t *testing.T) {
	s, _ := annex()
	d, at := newDesk(), time.Date(2026, 3, 4, 7, 0, 0, 0, time.UTC)
	late := overdueCopies([]OffsiteOverdue{{To: "server", Since: at.AddDate(0, 0, -4)}})
	looks := func(long time.Duration, besides ...Concern) (over []string) {
		for end := at.Add(long); at.Before(end); at = at.Add(time.Second) {
			over = append(over, d.look(s, at, besides...)...)
		}
		return over
	}
	looks(15*time.Second, late...)
	got := d.now.Load().attention
	if len(got.Concerns) != 1 || got.Concerns[0].Kind != "backup-overdue" || got.Concerns[0].Key != "offsite server" || !got.Concerns[0].Since.Equal(late[0].Since.UTC()) {
		t.Fatalf("is told %+v", got)
	}
	if c, there := d.put("offsite server", &appliance.Aside{By: "caretaker", At: at}); !there || c.Aside == nil {
		t.Error("it cannot be put aside")
	}
	if over := looks(overFor, late...); len(over) != 0 {
		t.Errorf("over: %v", over)
	}
	if over := looks(2 * overFor); len(over) != 1 || len(d.now.Load().attention.Concerns) != 0 {
		t.Errorf("after a copy: over %v, and is told %+v", over, d.now.Load().attention)
	}
}
