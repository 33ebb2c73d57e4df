package past

import (
	"context"
	"maps"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// view is the history at one moment.
type view struct {
	ring    *ring
	blocks  []indexed // ascending number
	present []byte    // payload of the last of them, which is not in the ring
	goesOn  bool      // there is such a one, and its run goes on
}

func (r *Recorder) view() (view, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring == nil {
		return view{}, appliance.ErrNoPast
	}
	v := view{ring: r.ring, blocks: slices.Clone(r.ring.blocks)}
	if h := r.now.header; h.number != 0 {
		v.blocks = append(v.blocks, indexed{number: h.number, run: h.run, begin: h.begin, seconds: uint32(r.seconds() - r.now.begins), full: h.full})
		v.present, v.goesOn = slices.Clone(r.now.payload), true
	}
	return v, nil
}

func (v view) payload(i int) ([]byte, error) {
	if i == len(v.blocks)-1 && v.goesOn {
		return v.present, nil
	}
	return v.ring.read(v.blocks[i])
}

// Oldest is when the history begins; zero: there is none.
func (r *Recorder) Oldest() time.Time {
	v, err := r.view()
	if err != nil {
		return time.Time{}
	}
	now := r.clock.Wall()
	runs := v.windows(now.Add(-Kept).UnixMilli(), now.UnixMilli())
	if len(runs) == 0 {
		return time.Time{}
	}
	return time.UnixMilli(runs[0].from)
}

// Replay tells what the wanted tracks were from one time on until another: first those that are known at from, then what
// changed, in the order of time. Where nothing was kept, they are told as not known. It ends early with the error of tell,
// and fails with [appliance.ErrNoPast].
func (r *Recorder) Replay(ctx context.Context, from, to time.Time, want func(appliance.Track) bool, tell func(appliance.Past) error) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	if kept := r.clock.Wall().Add(-Kept); from.Before(kept) {
		from = kept
	}
	for _, w := range v.windows(from.UnixMilli(), to.UnixMilli()) {
		p := player{view: v, window: w, want: want, tell: tell, state: map[key]code{}}
		if err := p.play(ctx); err != nil {
			return err
		}
		if w.to < to.UnixMilli() {
			if err := p.forget(w.to); err != nil {
				return err
			}
		}
	}
	return nil
}

// window is a time within one run, whose blocks are those from first to last.
type window struct {
	from, to    int64 // ms; to is not part of it
	first, last int
}

// windows divides a time among the runs, in the order of time.
func (v view) windows(from, to int64) (out []window) {
	var runs []window
	for i, b := range v.blocks {
		switch n := len(runs); {
		case n > 0 && v.blocks[runs[n-1].last].run == b.run:
			runs[n-1].last, runs[n-1].to = i, b.end()
		case b.full: // before it nobody knows how things were
			runs = append(runs, window{b.begin, b.end(), i, i})
		}
	}
	if n := len(runs); n > 0 && v.goesOn {
		runs[n-1].to = max(runs[n-1].to, to)
	}
	free := []window{{from: from, to: to}}
	for _, run := range slices.Backward(runs) {
		var rest []window
		for _, f := range free {
			begin, end := max(f.from, run.from), min(f.to, run.to)
			if begin >= end {
				rest = append(rest, f)
				continue
			}
			out = append(out, window{begin, end, run.first, run.last})
			if f.from < begin {
				rest = append(rest, window{from: f.from, to: begin})
			}
			if end < f.to {
				rest = append(rest, window{from: end, to: f.to})
			}
		}
		free = rest
	}
	slices.SortFunc(out, func(a, b window) int { return int(max(-1, min(1, a.from-b.from))) })
	return out
}

// player tells one window.
type player struct {
	view
	window
	want  func(appliance.Track) bool
	tell  func(appliance.Past) error
	state map[key]code // of what is wanted and known
	begun bool         // what is known at the begin was told
}

func (p *player) play(ctx context.Context) error {
	first := p.first
	for i := p.first; i <= p.last && p.blocks[i].begin <= p.from; i++ {
		if p.blocks[i].full {
			first = i
		}
	}
	whole := true // no block was missing since the last one that is full
	for i := first; i <= p.last && p.blocks[i].begin < p.to; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := p.blocks[i]
		payload, err := p.payload(i)
		if whole = err == nil && (whole || b.full); whole {
			whole, err = p.block(b.begin, payload)
		} else {
			err = p.forget(max(b.begin, p.from))
		}
		if err != nil {
			return err
		}
	}
	return p.begin()
}

// block tells the changes of a block, and reports whether it could be read to its end.
func (p *player) block(begin int64, payload []byte) (whole bool, err error) {
	failed := eachChange(payload, func(seconds int64, c change) bool {
		at := begin + seconds*1000
		if at >= p.to || !p.want(c.track()) {
			return at < p.to
		}
		if at > p.from {
			if err = p.begin(); err != nil {
				return false
			}
			if p.state[c.key] == c.code {
				return true // all that is known was written again
			}
			err = p.tell(c.past(time.UnixMilli(at), c.code))
		}
		if c.code == 0 {
			delete(p.state, c.key)
		} else {
			p.state[c.key] = c.code
		}
		return err == nil
	})
	return failed == nil, err
}

// begin tells what is known at the begin of the window, once.
func (p *player) begin() error {
	if p.begun {
		return nil
	}
	p.begun = true
	for _, k := range slices.SortedFunc(maps.Keys(p.state), compareKeys) {
		if err := p.tell(k.past(time.UnixMilli(p.from), p.state[k])); err != nil {
			return err
		}
	}
	return nil
}

// forget tells that nothing is known any more.
func (p *player) forget(at int64) error {
	if err := p.begin(); err != nil {
		return err
	}
	for _, k := range slices.SortedFunc(maps.Keys(p.state), compareKeys) {
		if err := p.tell(k.past(time.UnixMilli(at), 0)); err != nil {
			return err
		}
	}
	clear(p.state)
	return nil
}
