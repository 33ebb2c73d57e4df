package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

// SaveShade makes durable what was found out about a shade, and puts it in force.
type SaveShade func(ctx context.Context, id appliance.ID, to appliance.ShadeSettings) error

// sessions are the runs under way: one a shade, each on the connection of the
// client that began it. When that ends, for whatever reason, so does the run, and
// the core stops the shade.
type sessions struct {
	save SaveShade
	busy sync.WaitGroup // runs

	mu sync.Mutex
	of map[appliance.ID]*session
}

// session is a run and the person who watches it.
type session struct {
	events chan ShadeEvent
	ask    bool            // before every leg
	left   <-chan struct{} // closed when the client has left
	over   chan struct{}   // closed when the shade is free again

	mu      sync.Mutex
	step    int
	answers chan string // of the question with that step; nil: none is open
}

// eventBacklog is how many events may wait for a slow reader; progress beyond it is
// not told.
const eventBacklog = 16

// shades lists the shades of the site.
func (d door) shades(w http.ResponseWriter, _ *http.Request) {
	s := d.core.Snapshot()
	out := make([]Shade, 0, len(s.Shades))
	for _, sh := range s.Shades {
		out = append(out, shadeOf(s, sh))
	}
	answer(w, out)
}

// calibrate measures the travel times of one shade. The query has runs=N, dry=1
// (save nothing) and ask=1 (ask before every leg).
func (d door) calibrate(w http.ResponseWriter, r *http.Request) {
	runs, err := strconv.Atoi(r.URL.Query().Get("runs"))
	if err != nil {
		fail(w, http.StatusBadRequest, fmt.Errorf("runs=%q: want a number, 0 for the usual one", r.URL.Query().Get("runs")))
		return
	}
	d.run(w, r, func(ctx context.Context, s *session, sh *appliance.Shade) (ShadeResult, appliance.ShadeSettings, error) {
		by := appliance.Origin{Who: "controllerd shade calibrate", Via: "console", Why: "calibration"}
		res, err := d.core.Calibrate(ctx, appliance.Calibration{Shade: sh.ID, Runs: runs, By: by}, s)
		to := sh.Settings()
		to.TravelUp, to.TravelDown = res.Up.Mean.Round(10*time.Millisecond), res.Down.Mean.Round(10*time.Millisecond)
		return ShadeResult{Up: travelOf(res.Up), Down: travelOf(res.Down), Watched: !res.Measured}, to, err
	})
}

// direction finds out which way one shade runs. The query has dry=1.
func (d door) direction(w http.ResponseWriter, r *http.Request) {
	d.run(w, r, func(ctx context.Context, s *session, sh *appliance.Shade) (ShadeResult, appliance.ShadeSettings, error) {
		by := appliance.Origin{Who: "controllerd shade direction", Via: "console", Why: "direction"}
		inverted, err := d.core.FindDirection(ctx, appliance.Nudge{Shade: sh.ID, By: by}, s.went)
		to := sh.Settings()
		if to.Inverted = inverted; inverted != sh.Inverted && d.core.Snapshot().Shade(sh.ID).Channel.PositionMeasured {
			// They were measured by the motor's own sense, which is turned round now.
			to.TravelUp, to.TravelDown = to.TravelDown, to.TravelUp
		}
		return ShadeResult{Watched: true}, to, err
	})
}

// run opens a session, does what is to be done with the shade and saves the outcome.
func (d door) run(w http.ResponseWriter, r *http.Request, do func(context.Context, *session, *appliance.Shade) (ShadeResult, appliance.ShadeSettings, error)) {
	id, err := shadeID(r)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	sh := d.core.Snapshot().Shade(id)
	if sh == nil {
		fail(w, http.StatusNotFound, fmt.Errorf("shade %d: %w", id, appliance.ErrNotFound))
		return
	}
	s, err := d.sessions.open(r.Context(), id, r.URL.Query().Get("ask") == "1")
	if err != nil {
		fail(w, http.StatusConflict, err)
		return
	}
	defer d.sessions.close(id)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		defer close(s.events)
		res, to, err := do(ctx, s, sh.Shade)
		if err == nil {
			res.ID, res.Name, res.Old, res.New = id, sh.Shade.Name, settingsOf(sh.Shade.Settings()), settingsOf(to)
			if r.URL.Query().Get("dry") != "1" {
				err = d.keep(ctx, id, to)
				res.Saved = err == nil
			}
		}
		last := ShadeEvent{Result: &res}
		if err != nil {
			last = ShadeEvent{Error: err.Error()}
		}
		s.tell(ctx, last)
	}()
	send := lines(w)
	for e := range s.events {
		if send(e) != nil {
			cancel()
		}
	}
}

// inForce is how soon what was saved has to be in force.
const inForce = 5 * time.Second

// keep saves the settings of a shade, and returns when they are in force.
func (d door) keep(ctx context.Context, id appliance.ID, to appliance.ShadeSettings) error {
	if err := d.sessions.save(ctx, id, to); err != nil {
		return err
	}
	late := time.NewTimer(inForce)
	defer late.Stop()
	for {
		s := d.core.Snapshot()
		if sh := s.Shade(id); sh == nil || sh.Shade.Settings() == to {
			return nil
		}
		select {
		case <-s.Superseded():
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("shade %d: its settings are saved, but not in force after %v; look at the daemon's log", id, inForce)
		}
	}
}

// reply takes a person's answer. The query has step=N and said=….
func (d door) reply(w http.ResponseWriter, r *http.Request) {
	id, err := shadeID(r)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	d.sessions.mu.Lock()
	s := d.sessions.of[id]
	d.sessions.mu.Unlock()
	if s == nil || !s.answer(r.URL.Query().Get("step"), r.URL.Query().Get("said")) {
		fail(w, http.StatusConflict, fmt.Errorf("shade %d: nobody waits for this answer any more", id))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func shadeID(r *http.Request) (appliance.ID, error) {
	n, err := strconv.ParseInt(r.PathValue("id"), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("shade %q: want its ID", r.PathValue("id"))
	}
	return appliance.ID(n), nil
}

// open begins a run. One whose client has left is waited for: it only has its stop to
// be confirmed.
func (l *sessions) open(ctx context.Context, id appliance.ID, ask bool) (*session, error) {
	s := &session{events: make(chan ShadeEvent, eventBacklog), ask: ask, left: ctx.Done(), over: make(chan struct{})}
	for {
		before := l.claim(id, s)
		if before == nil {
			return s, nil
		}
		select {
		case <-before.left:
		default:
			return nil, fmt.Errorf("shade %d: %w", id, appliance.ErrOnTrial)
		}
		select {
		case <-before.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// claim makes s the run of a shade unless there is one, which it returns.
func (l *sessions) claim(id appliance.ID, s *session) (before *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before = l.of[id]; before == nil {
		l.of[id] = s
		l.busy.Add(1)
	}
	return before
}

func (l *sessions) close(id appliance.ID) {
	l.mu.Lock()
	close(l.of[id].over)
	delete(l.of, id)
	l.mu.Unlock()
	l.busy.Done()
}

// endWait is how long the door waits at its end for shades to be stopped.
const endWait = 5 * time.Second

// wait returns when no run is under way any more, or it takes too long.
func (l *sessions) wait() {
	over := make(chan struct{})
	go func() { l.busy.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(endWait):
	}
}

// tell waits for a slow reader as long as there is one.
func (s *session) tell(ctx context.Context, e ShadeEvent) {
	select {
	case s.events <- e:
	case <-ctx.Done():
	}
}

// question asks the person and waits for the answer.
func (s *session) question(ctx context.Context, what string, leg ShadeLeg) (string, error) {
	answers := make(chan string, 1)
	s.mu.Lock()
	s.step++
	q := Question{s.step, what, leg}
	s.answers = answers
	s.mu.Unlock()
	s.tell(ctx, ShadeEvent{Ask: &q})
	select {
	case said := <-answers:
		return said, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// answer reports whether a question with that number was open.
func (s *session) answer(step, said string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil || step != strconv.Itoa(s.step) {
		return false
	}
	s.answers <- said
	s.answers = nil
	return true
}

func legOf(l appliance.Leg) ShadeLeg { return ShadeLeg{l.Number, l.Run, l.Up} }

// Begin asks whether a leg may begin.
func (s *session) Begin(ctx context.Context, leg appliance.Leg) error {
	if !s.ask || leg.Number == 1 { // the first follows the start of the run
		return nil
	}
	_, err := s.question(ctx, AskBegin, legOf(leg))
	return err
}

// Stands asks whether the shade stands.
func (s *session) Stands(ctx context.Context, leg appliance.Leg) error {
	_, err := s.question(ctx, AskStands, legOf(leg))
	return err
}

// Progress tells that the shade moves, unless nobody keeps up with reading that.
func (s *session) Progress(p appliance.Progress) {
	select {
	case s.events <- ShadeEvent{Moving: &Moving{legOf(p.Leg), seconds(p.Elapsed), percentOf(p.Position)}}:
	default:
	}
}

// Measured tells the outcome of a leg.
func (s *session) Measured(leg appliance.Leg, took, off time.Duration) {
	select {
	case s.events <- ShadeEvent{Measured: &Measured{legOf(leg), seconds(took), seconds(off)}}:
	default:
	}
}

// went asks which way the shade went.
func (s *session) went(ctx context.Context, toldUp bool) (appliance.Went, error) {
	said, err := s.question(ctx, AskWent, ShadeLeg{Up: toldUp})
	if err != nil {
		return appliance.WentNowhere, err
	}
	switch said {
	case WentUp:
		return appliance.WentUp, nil
	case WentDown:
		return appliance.WentDown, nil
	case WentNowhere:
		return appliance.WentNowhere, nil
	}
	return appliance.WentNowhere, errors.New("answer " + strconv.Quote(said) + ": want up, down or none")
}
