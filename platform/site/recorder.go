package site

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/semaphore"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// Store is where reports are kept.
type Store interface {
	SaveBatch(ctx context.Context, b platform.Batch) error
	SetSession(ctx context.Context, s platform.Session) (news bool, err error)
	Purge(ctx context.Context, r platform.Retention) error
}

// Message came from a controller.
type Message struct {
	Controller string
	Below      string // topic below the controller's subtree
	Payload    []byte
	Retained   bool // the broker had kept it
	At         time.Time
}

const (
	// waitingMost messages, of waitingBytesMost together, wait to be saved; then the broker
	// waits.
	waitingMost      = 4096
	waitingBytesMost = 32 << 20
	// batchMost messages are saved together, at the latest batchAfter after the first.
	batchMost  = 1000
	batchAfter = 200 * time.Millisecond
	// stateMost bytes describe one thing; only of a whole site, which lists its things, there is more. Every question reads
	// them all.
	stateMost = 8 << 10
	// purgeEvery is how often what is too old is removed.
	purgeEvery = time.Hour
)

// How long things are kept.
const (
	MinutesKept  = 48 * time.Hour
	QuartersKept = 2 * 365 * 24 * time.Hour
	EventsKept   = 2 * 365 * 24 * time.Hour
)

// Shares keep every controller to its share.
type Shares interface {
	// Hold reports whether a message may be kept under its topic, Store whether one may be
	// kept for years.
	Hold(controller, topic string, size int) bool
	Store(controller string, size int) bool
}

// Recorder saves what controllers report.
type Recorder struct {
	store  Store
	shares Shares
	log    *slog.Logger
	in     chan Message
	room   *semaphore.Weighted // for what waits, in bytes
	unread web.Sparse          // bounds lines about what cannot be read
}

// NewRecorder makes a recorder.
func NewRecorder(store Store, shares Shares, log *slog.Logger) *Recorder {
	return &Recorder{store: store, shares: shares, log: log, in: make(chan Message, waitingMost), room: semaphore.NewWeighted(waitingBytesMost)}
}

// Take queues a message to be saved. It blocks while too many wait, until ctx ends.
func (r *Recorder) Take(ctx context.Context, m Message) {
	weight := min(int64(len(m.Payload)), waitingBytesMost)
	if r.room.Acquire(ctx, weight) != nil {
		return // ctx has ended
	}
	select {
	case r.in <- m:
	case <-ctx.Done():
		r.room.Release(weight)
	}
}

// Run saves what is taken until ctx ends, and then what is queued.
func (r *Recorder) Run(ctx context.Context) error {
	purge := time.NewTicker(purgeEvery)
	defer purge.Stop()
	r.purge(ctx)
	for {
		select {
		case m := <-r.in:
			r.save(ctx, r.gather(m, batchAfter))
		case <-purge.C:
			r.purge(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			for {
				select {
				case m := <-r.in:
					r.save(last, r.gather(m, 0))
				default:
					return nil
				}
			}
		}
	}
}

// gather collects what comes soon after a first message.
func (r *Recorder) gather(first Message, within time.Duration) []Message {
	batch := []Message{first}
	end := time.NewTimer(within)
	defer end.Stop()
	for len(batch) < batchMost {
		select {
		case m := <-r.in:
			batch = append(batch, m)
			continue
		default:
		}
		select {
		case m := <-r.in:
			batch = append(batch, m)
		case <-end.C:
			return batch
		}
	}
	return batch
}

// save keeps a batch; what the database does not take is tried until it does.
func (r *Recorder) save(ctx context.Context, messages []Message) {
	defer func() {
		for _, m := range messages {
			r.room.Release(min(int64(len(m.Payload)), waitingBytesMost))
		}
	}()
	b, sessions := r.sort(messages)
	pause := 100 * time.Millisecond
	for told := false; ; told = true {
		err := r.store.SaveBatch(ctx, b)
		for i := 0; err == nil && i < len(sessions); i++ {
			err = r.saveSession(ctx, sessions[i])
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		if !told {
			r.log.Error("what controllers reported is not saved yet; trying again", "messages", len(messages), "why", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// saveSession notes that a controller came or went, as an event too.
func (r *Recorder) saveSession(ctx context.Context, s session) error {
	news, err := r.store.SetSession(ctx, s.Session)
	if err != nil || !news {
		return err
	}
	e := platform.Event{Controller: s.Controller, Code: "controller.offline", Severity: "warning", Kind: "controller", Name: s.Name,
		Message: "the controller went offline", At: s.At, Cleared: s.Online}
	if s.Online {
		e.Severity, e.Message = "info", "the controller is online"
	}
	r.log.Info("controller", "controller", s.Controller, "online", s.Online, "boot", s.Boot)
	return r.store.SaveBatch(ctx, platform.Batch{Events: []platform.MessageEvent{{ID: s.message, Event: e}}})
}

// session is a birth or death with the message that told it.
type session struct {
	platform.Session
	message string
}

// sort makes one batch of messages. What cannot be read is left out and told.
func (r *Recorder) sort(messages []Message) (platform.Batch, []session) {
	b := platform.Batch{Samples: map[string][]platform.Sample{}, Alive: map[string]time.Time{}}
	var sessions []session
	for _, m := range messages {
		if !m.Retained {
			b.Alive[m.Controller] = m.At
		}
		kind, id, isState := wire.SplitState(m.Below)
		if !r.mayKeep(m, isState) {
			continue
		}
		var err error
		m.Payload = plainText(m.Payload)
		switch {
		case isState && len(m.Payload) == 0:
			b.Reports = append(b.Reports, platform.Report{Controller: m.Controller, Kind: string(kind), ID: id})
		case isState:
			err = addReport(&b, m, kind, id)
		case m.Below == wire.UpStatus:
			sessions, err = addSession(sessions, m)
		case m.Below == wire.UpTele:
			err = addTelemetry(&b, m)
		case m.Below == wire.UpEvent:
			err = addEvent(&b, m)
		case m.Below == wire.UpLedger:
			err = addLedger(&b, m)
		}
		if err != nil {
			r.Unread(m, err)
		}
	}
	return b, sessions
}

// Unread tells in the log, a few times a minute, of a message that cannot be read.
func (r *Recorder) Unread(m Message, why error) {
	if ok, left := r.unread.Allow(); ok {
		r.log.Warn("a message of a controller cannot be read", "controller", m.Controller, "topic", m.Below, "why", why, "not_logged", left)
	}
}

// mayKeep reports whether a message is within the share of its controller.
func (r *Recorder) mayKeep(m Message, isState bool) bool {
	switch {
	case m.Retained, isState:
		return r.shares.Hold(m.Controller, m.Below, len(m.Payload))
	case m.Below == wire.UpTele, m.Below == wire.UpEvent, m.Below == wire.UpLedger:
		return r.shares.Store(m.Controller, len(m.Payload))
	}
	return true
}

// plainText replaces what PostgreSQL keeps in no text: one such character would keep all that comes after it waiting.
func plainText(payload []byte) []byte {
	return bytes.ReplaceAll(bytes.ToValidUTF8(payload, []byte("\ufffd")), []byte(`\u0000`), []byte(`\ufffd`))
}

func open(m Message, data any) (wire.Envelope, error) {
	env, err := wire.Open(m.Payload)
	if err != nil {
		return env, err
	}
	return env, env.Read(data)
}

func addReport(b *platform.Batch, m Message, kind wire.Kind, id int64) error {
	var s wire.State
	env, err := open(m, &s)
	if err != nil {
		return err
	}
	if s.Kind != kind || s.ID != id {
		return platform.Invalid("it tells of %s %d on the topic of %s %d", s.Kind, s.ID, kind, id)
	}
	if kind != wire.KindSite && len(env.Data) > stateMost {
		return platform.Invalid("a state of %d bytes, at most %d", len(env.Data), stateMost)
	}
	r := platform.Report{
		Controller: m.Controller, Kind: string(kind), ID: id, State: env.Data, At: env.TS, ReportedAt: m.At,
		Silent: (kind == wire.KindNode || kind == wire.KindShade) && (s.Online == nil || !*s.Online),
	}
	if env.TS.Before(m.At.Add(futureMost)) { // else nothing that comes later would count as newer
		r.Doing, r.Read = doing(s)
		r.Reach = reach(s)
	}
	b.Reports = append(b.Reports, r)
	return nil
}

// addSession takes births as they happen. That the broker still has one says nothing: whoever is there announces itself
// again when the platform does.
func addSession(all []session, m Message) ([]session, error) {
	var s wire.Status
	env, err := open(m, &s)
	if err != nil || m.Retained && s.State == wire.Online {
		return all, err
	}
	return append(all, session{platform.Session{
		Controller: m.Controller, Online: s.State == wire.Online, Boot: s.Boot, Name: s.Name, Firmware: s.Firmware, At: m.At,
	}, env.ID}), nil
}

func addTelemetry(b *platform.Batch, m Message) error {
	var t wire.Telemetry
	if _, err := open(m, &t); err != nil {
		return err
	}
	soon := m.At.Add(futureMost)
	for _, s := range t.Samples {
		if !s.At.IsZero() && s.At.Before(soon) {
			b.Samples[m.Controller] = append(b.Samples[m.Controller], platform.Sample{Node: s.Node, Watts: s.Power, At: s.At})
		}
	}
	for _, s := range t.Seen {
		if s.At.Before(soon) {
			b.Seen = append(b.Seen, platform.Report{Controller: m.Controller, Kind: string(s.Kind), ID: s.ID, Seen: s.At, ReportedAt: m.At})
		}
	}
	return nil
}

// futureMost is how far ahead a controller's clock may be for what it measured to count: a sample of next year would
// keep all others out until then.
const futureMost = 5 * time.Minute

func addEvent(b *platform.Batch, m Message) error {
	var e wire.Event
	env, err := open(m, &e)
	if err != nil {
		return err
	}
	b.Events = append(b.Events, platform.MessageEvent{ID: env.ID, Event: platform.Event{
		Controller: m.Controller, Code: e.Code, Severity: e.Severity, Kind: string(e.Kind), Thing: e.Thing,
		Name: e.Name, Message: e.Message, At: e.At, Cleared: e.Cleared,
	}})
	return nil
}

func (r *Recorder) purge(ctx context.Context) {
	now := time.Now()
	err := r.store.Purge(ctx, platform.Retention{Minutes: now.Add(-MinutesKept), Quarters: now.Add(-QuartersKept), Events: now.Add(-EventsKept), History: now.Add(-platform.HistoryKept)})
	if err != nil && ctx.Err() == nil {
		r.log.Error("what is too old was not removed; trying again in an hour", "why", err)
	}
}
