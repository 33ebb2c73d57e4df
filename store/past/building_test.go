package past

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// building makes snapshots, and has its own time.
type building struct {
	t     *testing.T
	site  *appliance.Site
	snap  *appliance.Snapshot
	mono  time.Duration
	wall  time.Time
	right bool
	r     *Recorder
}

var epoch = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// newBuilding has lights that measure themselves, and shades.
func newBuilding(t *testing.T, lights, shades int) *building {
	b := &building{t: t, site: &appliance.Site{}, wall: epoch, right: true}
	for i := range lights {
		b.site.Nodes = append(b.site.Nodes, appliance.Node{ID: appliance.ID(i + 1), Name: fmt.Sprint("Lamp ", i+1)})
	}
	for i := range shades {
		b.site.Shades = append(b.site.Shades, appliance.Shade{ID: appliance.ID(5001 + i)})
	}
	s := appliance.Snapshot{Site: b.site, Index: appliance.NewIndex(b.site)}
	for i := range b.site.Nodes {
		s.Nodes = append(s.Nodes, &appliance.NodeState{Node: &b.site.Nodes[i], Online: true, Channels: []appliance.ChannelState{
			{Channel: appliance.Channel{Abilities: appliance.CanDim | appliance.CanMeasure}},
		}})
	}
	for i := range b.site.Shades {
		s.Shades = append(s.Shades, &appliance.ShadeState{Shade: &b.site.Shades[i], Online: true})
	}
	b.snap = appliance.NewSnapshot(s, nil)
	return b
}

// keep begins a recorder on a file.
func (b *building) keep(d disk, slots int) {
	b.r = New("", Clock{Wall: func() time.Time { return b.wall }, Mono: func() time.Duration { return b.mono }, Right: func() bool { return b.right }}, slog.New(slog.DiscardHandler))
	b.r.open, b.r.slots = func(string) (disk, error) { return d, nil }, slots
}

// pass lets seconds pass, each with its look.
func (b *building) pass(seconds int) {
	for range seconds {
		b.mono += time.Second
		b.wall = b.wall.Add(time.Second)
		b.r.look(b.snap)
	}
}

// change makes a new snapshot.
func (b *building) change(do func(s *appliance.Snapshot)) {
	s := *b.snap
	s.Nodes, s.Shades = slices.Clone(s.Nodes), slices.Clone(s.Shades)
	do(&s)
	b.snap = appliance.NewSnapshot(s, b.snap)
}

func read[T any](v T) appliance.Known[T] {
	return appliance.Known[T]{Value: v, At: epoch, Source: appliance.Measured}
}

// dim sets a lamp, which draws a watt for each ten percent.
func (b *building) dim(i int, level appliance.Level) {
	b.change(func(s *appliance.Snapshot) {
		n := *s.Nodes[i]
		n.Channels = slices.Clone(n.Channels)
		n.Channels[0].Level, n.Channels[0].Power = read(level), read(float64(level)/10)
		s.Nodes[i] = &n
	})
}

func (b *building) answers(i int, online bool) {
	b.change(func(s *appliance.Snapshot) {
		n := *s.Nodes[i]
		n.Online = online
		s.Nodes[i] = &n
	})
}

func (b *building) move(i int, p appliance.Position, m appliance.Motion) {
	b.change(func(s *appliance.Snapshot) {
		sh := *s.Shades[i]
		sh.Position, sh.Motion = read(p), m
		s.Shades[i] = &sh
	})
}

func everything(appliance.Track) bool { return true }

// replayed is what the history tells.
func (b *building) replayed(from, to time.Time, want func(appliance.Track) bool) (out []appliance.Past) {
	b.t.Helper()
	err := b.r.Replay(b.t.Context(), from, to, want, func(p appliance.Past) error {
		if n := len(out); n > 0 && p.At.Before(out[n-1].At) {
			b.t.Errorf("told %v after %v", p.At, out[n-1].At)
		}
		p.At = p.At.UTC()
		out = append(out, p)
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func of(node appliance.ID, aspect appliance.Aspect) func(appliance.Track) bool {
	return func(t appliance.Track) bool { return t.Node == node && t.Aspect == aspect }
}

// words is a history of one track in short: seconds since the epoch and values, "-" where nothing is known.
func words(list []appliance.Past) (out []string) {
	for _, p := range list {
		value := "-"
		if p.Known {
			value = fmt.Sprint(p.Value)
		}
		out = append(out, fmt.Sprintf("%.0f:%s", p.At.Sub(epoch).Seconds(), value))
	}
	return out
}

func same(t *testing.T, what string, got []appliance.Past, want ...string) {
	t.Helper()
	if w := words(got); !slices.Equal(w, want) {
		t.Errorf("%s: %v, want %v", what, w, want)
	}
}

// memory is a disk that remembers how it was written.
type memory struct {
	data   []byte
	room   int64
	refuse error
	writes []writing
	bytes  int64 // written
}

type writing struct {
	at   int64
	data []byte
}

func newMemory() *memory { return &memory{room: 1 << 40} }

func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if m.refuse != nil {
		return 0, m.refuse
	}
	m.writes = append(m.writes, writing{at, slices.Clone(p)})
	m.bytes += int64(len(p))
	m.data = applied(m.data, at, p)
	return len(p), nil
}

func applied(data []byte, at int64, p []byte) []byte {
	if more := at + int64(len(p)) - int64(len(data)); more > 0 {
		data = append(data, make([]byte, more)...)
	}
	copy(data[at:], p)
	return data
}

func (m *memory) Sync() error               { return m.refuse }
func (m *memory) Size() (int64, error)      { return int64(len(m.data)), nil }
func (m *memory) Truncate(size int64) error { m.data = m.data[:size]; return nil }
func (m *memory) Room() (int64, error)      { return m.room, nil }
func (m *memory) Close() error              { return nil }

// busy lets a building be as busy as people are: lamps and shades that are moved, meters that are never still.
func (b *building) busy(random *rand.Rand, seconds int) {
	for range seconds {
		if len(b.snap.Nodes) > 0 && random.IntN(3) == 0 {
			b.dim(random.IntN(len(b.snap.Nodes)), appliance.Level(random.IntN(101)))
		}
		if len(b.snap.Shades) > 0 && random.IntN(60) == 0 {
			b.move(random.IntN(len(b.snap.Shades)), appliance.Position(random.IntN(101)), appliance.Stopped)
		}
		if len(b.snap.Nodes) > 0 && random.IntN(600) == 0 {
			i := random.IntN(len(b.snap.Nodes))
			b.answers(i, !b.snap.Nodes[i].Online)
		}
		b.pass(1)
	}
}

// onDisk is a real file.
func onDisk(t *testing.T) disk {
	t.Helper()
	d, err := openFile(filepath.Join(t.TempDir(), FileName))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := d.(fileDisk).Stat(); err != nil || info.Mode() != os.FileMode(0o600) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	return d
}

// closing is a memory that counts.
type closing struct {
	*memory
	closed, tried int
}

func (c *closing) Close() error { c.closed++; return nil }
func (c *closing) WriteAt(p []byte, at int64) (int, error) {
	if c.refuse != nil {
		c.tried++
	}
	return c.memory.WriteAt(p, at)
}

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
