package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/assistant/model"
	"svc.internal/controller/platform/understand"
)

// Bounds of an inquiry, in characters, and of the work on it.
const (
	MaxMessage = 4000
	MaxSession = 128

	askTimeout = 90 * time.Second // with a model; without one it takes milliseconds
	// manySites is how many sites one answer goes through; of more, the asker has to name one.
	manySites = 5
)

// Price of energy; zero: nobody entered one.
type Price struct {
	PerKWh   float64
	Currency string
}

// Config is what an assistant is made of.
type Config struct {
	Sites   platform.SiteReader
	Act     platform.Actuator // nil: nothing can be controlled
	History History
	Model   model.Model // reads what the rules do not; nil: nobody does
	Price   Price
	// Settle is how long the answer to an order waits, after the controller's, for its reports to show it; longer where the
	// controller says that its hardware takes longer. Zero: not at all.
	Settle time.Duration
	Now    func() time.Time
	Log    *slog.Logger
}

// Assistant answers questions; it implements [platform.Asker].
type Assistant struct {
	Config

	following follower
	kept      kept
}

var _ platform.Asker = (*Assistant)(nil)

// New makes an assistant.
func New(c Config) *Assistant {
	return &Assistant{Config: c, kept: kept{of: map[string]*keptOne{}, devices: map[string]int{}}}
}

// work is one inquiry while it is answered.
type work struct {
	in      platform.Inquiry
	tell    func(platform.Progress)
	now     time.Time
	clock   func() time.Time
	updates []platform.StatusUpdate
	conv    Conversation
	lang    understand.Lang // of the message, as far as its words tell
	dropped *Pending        // what waited for a yes, and did not get it
}

// preferred is the language of what words tell nothing about: that of what was said before, or the asker's.
func (w *work) preferred() understand.Lang {
	switch {
	case w.conv.Order != nil:
		return w.conv.Order.Lang
	case w.conv.Last != nil:
		return w.conv.Last.Lang
	}
	return understand.Lang(w.in.Lang)
}

// f words a stage.
func (w *work) f(format string, values ...any) string { return in(w.lang, format, values...) }

// status tells a stage of the work.
func (w *work) status(stage, agent, message string) {
	u := platform.StatusUpdate{Stage: stage, Message: message, Timestamp: w.clock().UTC()}
	if agent != "" {
		u.Agent = &agent
	}
	w.updates = append(w.updates, u)
	if w.tell != nil {
		w.tell(platform.Progress{Status: &u})
	}
}

// delta passes a piece of text on.
func (w *work) delta(text string) {
	if w.tell != nil && text != "" {
		w.tell(platform.Progress{Delta: text})
	}
}

// Ask implements [platform.Asker].
func (e *Assistant) Ask(ctx context.Context, in platform.Inquiry, tell func(platform.Progress)) (platform.Reply, error) {
	if err := check(&in); err != nil {
		return platform.Reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	w := &work{in: in, tell: tell, now: e.Now(), clock: e.Now}
	var err error
	if w.conv, err = e.recall(ctx, in.Owner, in.Session); err != nil {
		return platform.Reply{}, err
	}
	w.lang = understand.LanguageOf(in.Message, w.preferred())
	ended := e.howItEnded(ctx, in.Owner, &w.conv, w.now)
	w.status("thinking", "", w.f("Reading the question"))
	agent, said, err := e.answer(ctx, w)
	if err != nil {
		return platform.Reply{}, err
	}
	if w.dropped != nil {
		said.text += "\n\n" + w.dropped.gone()
	}
	if ended != "" { // what became of an order since comes last, so that the answer is to the question
		said.text += "\n\n" + ended
	}
	w.delta(said.text)
	w.status("done", agent.Name, w.f("The answer is complete"))
	w.conv.remember(Turn{At: w.now, Message: in.Message, Reply: said.text, Agent: agent.Name})
	if err := e.keep(ctx, in.Owner, in.Session, w.conv); err != nil {
		return platform.Reply{}, err
	}
	return w.reply(agent.Name, said)
}

// reply packs an answer.
func (w *work) reply(agent string, said answer) (platform.Reply, error) {
	r := platform.Reply{Text: said.text, Agent: agent, Updates: w.updates, Session: w.in.Session}
	if said.data != nil {
		raw, err := json.Marshal(said.data)
		if err != nil {
			return r, fmt.Errorf("pack facts: %w", err)
		}
		if raw[0] != '{' { // protocols want an object
			raw = slices.Concat([]byte(`{"items":`), raw, []byte("}"))
		}
		r.Data = raw
	}
	return r, nil
}

// check refuses what cannot be answered, and gives a new conversation an ID.
func check(in *platform.Inquiry) error {
	switch {
	case strings.TrimSpace(in.Message) == "":
		return platform.Invalid("message is empty; want 1 to %d characters", MaxMessage)
	case utf8.RuneCountInString(in.Message) > MaxMessage:
		return platform.Invalid("message has %d characters, at most %d are possible", utf8.RuneCountInString(in.Message), MaxMessage)
	}
	if in.Period != nil && !in.Period.Start.Before(in.Period.End) {
		return platform.Invalid("timeRange ends before it starts")
	}
	return checkSession(&in.Session)
}

func checkSession(session *string) error {
	if n := utf8.RuneCountInString(*session); n > MaxSession {
		return platform.Invalid("sessionId has %d characters, at most %d are possible", n, MaxSession)
	}
	if strings.ContainsRune(*session, 0) {
		return platform.Invalid("sessionId has a zero character, which no database keeps")
	}
	if *session == "" {
		*session = uuid.NewString()
	}
	return nil
}

// controllerState is a controller in an answer.
type controllerState struct {
	platform.Controller
	Title string `json:"title"`
}

// answer finds the sites, understands the message and lets the right agent answer.
func (e *Assistant) answer(ctx context.Context, w *work) (Agent, answer, error) {
	all, err := e.Sites.Controllers(ctx)
	if err != nil {
		return Agent{}, answer{}, fmt.Errorf("list controllers: %w", err)
	}
	if agent, said, ok, err := e.settle(ctx, w); ok || err != nil {
		return agent, said, err
	}
	chosen, err := choose(all, w)
	if err != nil {
		return Agent{}, answer{}, err
	}
	if len(chosen) > manySites {
		return e.overAll(w, all)
	}
	var asks []*asked
	for _, c := range chosen {
		site, err := e.look(ctx, c, w.now)
		if err != nil {
			if errors.Is(err, platform.ErrNotFound) { // it was removed meanwhile
				continue
			}
			return Agent{}, answer{}, err
		}
		before := w.conv.Last
		read := understand.Read(w.in.Message, site.names, site.Now)
		if people := e.people(ctx, site, w.in.Message, read); people != nil {
			site.names = names(site.Site, people...)
			read = understand.Read(w.in.Message, site.names, site.Now)
		}
		questions, leftOut := understand.Separate(w.in.Message, read, site.names, site.Now)
		for i, message := range questions {
			if message != w.in.Message {
				read = understand.Read(message, site.names, site.Now)
			}
			a := e.understand(ctx, w, site, message, read, before)
			if i == 0 && leftOut != "" {
				a.took = a.f("Left out: %s.", quoted(leftOut))
			}
			asks = append(asks, a)
			before = &a.q
		}
	}
	if len(asks) == 0 {
		return e.overAll(w, all)
	}
	asks = whereNamed(asks)
	return e.byAgent(ctx, w, asks, all)
}

// settle answers a yes or no to what was previewed. Any other message drops it.
func (e *Assistant) settle(ctx context.Context, w *work) (Agent, answer, bool, error) {
	pending := w.conv.Order
	w.conv.Order = nil
	if pending != nil && w.now.Sub(pending.At) <= PreviewLife {
		w.dropped = pending
	}
	topic := understand.Reaction(w.in.Message)
	if topic != understand.Confirm && topic != understand.Decline {
		return Agent{}, answer{}, false, nil
	}
	w.dropped = nil
	agent := Agents[0]
	w.status("routing", agent.Name, w.f("Routed to %s", agent.Name))
	switch {
	case pending == nil || len(pending.Steps) == 0: // or one of a version that kept orders in another form
		return agent, answer{text: w.f("There is nothing waiting for a yes or no. Ask me something, or tell me what to set.")}, true, nil
	case topic == understand.Decline:
		return agent, answer{text: in(pending.Lang, "Dropped: nothing was done.")}, true, nil
	}
	said, err := e.carryOut(ctx, w, *pending)
	return agent, said, true, err
}

// understand makes a question to a site of what was read, and of what was asked before; nil: nothing.
func (e *Assistant) understand(ctx context.Context, w *work, site building, message string, q understand.Frame, before *understand.Frame) *asked {
	if q.Topic == understand.Order && q.Unclear == nil && q.Is(understand.Terse) && !w.in.Control { // who may not order asks
		q = understand.Question(message, site.names, site.Now)
	}
	if before != nil {
		q = q.After(*before)
	}
	q = finish(w, site.Site, q)
	q.Places = withThings(site.Site, q)
	a := &asked{ctx: ctx, site: site.Site, message: message, q: q, price: e.Price}
	if kind := thingsOf[q.Topic]; kind != "" && q.Kind != understand.Everything {
		a.q.Places, a.q.Except = a.wholeZones(q.Places), a.wholeZones(q.Except)
	}
	a.scope = scopeOf(site.Site, q.Lang, a.q.Places, a.q.Except)
	return a
}

// finish lets a frame be about what was asked for beside the words: a kind of data, a time. It settles in which language it is answered.
func finish(w *work, site *facts.Site, q understand.Frame) understand.Frame {
	q = narrow(q.Alone(), w.in.About)
	if p := w.in.Period; p != nil {
		q.When = &understand.Span{From: p.Start.In(site.Now.Location()), To: p.End.In(site.Now.Location())}
		q.Against = nil
		q.Set(understand.Future, p.Start.After(site.Now))
		if q.Op == understand.Compare && len(q.Mentioned()) < 2 {
			q.Op = understand.Tell
		}
		if q.Unclear != nil && q.Unclear.Why == understand.TimeWords {
			q.Unclear = nil // the period says which time is meant
		}
	}
	return q
}
