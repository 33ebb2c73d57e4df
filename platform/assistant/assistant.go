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
		if people := e.people(ctx, site, read); people != nil {
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

// choose finds the sites that a message is about.
func choose(all []platform.Controller, w *work) ([]platform.Controller, error) {
	same := func(c platform.Controller, name string) bool { return c.ID == name || strings.EqualFold(c.Name, name) }
	if w.in.Site != "" {
		found := slices.DeleteFunc(slices.Clone(all), func(c platform.Controller) bool { return !same(c, w.in.Site) })
		if len(found) == 0 {
			if len(all) == 0 {
				return nil, platform.Invalid("there is no site %q: none reports to this platform yet", clip(w.in.Site, 100))
			}
			return nil, platform.Invalid("there is no site %q; sites: %s", clip(w.in.Site, 100), sitesOf(all))
		}
		return found, nil
	}
	if len(all) < 2 {
		return all, nil
	}
	low := strings.ToLower(w.in.Message)
	named := slices.DeleteFunc(slices.Clone(all), func(c platform.Controller) bool {
		return !(len(c.Name) >= 3 && strings.Contains(low, strings.ToLower(c.Name))) && !(len(c.ID) >= 3 && strings.Contains(low, c.ID))
	})
	if len(named) > 0 {
		return named, nil
	}
	if w.conv.Site != "" {
		if i := slices.IndexFunc(all, func(c platform.Controller) bool { return c.ID == w.conv.Site }); i >= 0 {
			return all[i : i+1], nil
		}
	}
	return all, nil
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
	return &asked{ctx: ctx, site: site.Site, message: message, q: q, scope: scopeOf(site.Site, q.Lang, q.Places, q.Except), price: e.Price}
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

// whereNamed keeps the sites that have what was named, if any has.
func whereNamed(asks []*asked) []*asked {
	named := map[*facts.Site]bool{}
	for _, a := range asks {
		if len(a.q.Places) > 0 {
			named[a.site] = true
		}
	}
	if len(named) == 0 {
		return asks
	}
	return slices.DeleteFunc(slices.Clone(asks), func(a *asked) bool { return !named[a.site] })
}

// overAll answers where there are none or too many sites to go through.
func (e *Assistant) overAll(w *work, all []platform.Controller) (Agent, answer, error) {
	q := understand.Read(w.in.Message, understand.Names{}, w.now)
	q.Lang = w.lang
	agent := route(q.Topic)
	w.status("routing", agent.Name, w.f("Routed to %s", agent.Name))
	switch {
	case q.Topic == understand.Help || q.Topic == understand.Greeting:
		return agent, help(q.Lang), nil
	case q.Topic == understand.Controllers || len(all) == 0:
		return agent, e.controllers(q, w.now, titled(all)), nil
	}
	var names []string
	for _, c := range all {
		names = append(names, label(c.Name))
	}
	return agent, answer{text: in(q.Lang, "%d sites report to this platform; which one do you mean? For example %s.", len(all), someIn(q.Lang, names, 10))}, nil
}

func titled(all []platform.Controller) []controllerState {
	var out []controllerState
	for _, c := range all {
		title := c.Name
		if title == "" {
			title = c.ID
		}
		out = append(out, controllerState{c, title})
	}
	return out
}

// byAgent routes the question and words the answer.
func (e *Assistant) byAgent(ctx context.Context, w *work, asks []*asked, all []platform.Controller) (Agent, answer, error) {
	one := !slices.ContainsFunc(asks, func(a *asked) bool { return a.site != asks[0].site })
	for _, a := range asks {
		if one && e.unread(w, a) { // of several sites each would be asked about
			if e.reread(ctx, w, a); ctx.Err() != nil {
				return Agent{}, answer{}, ctx.Err()
			}
		}
	}
	agent := route(asks[0].q.Topic)
	w.status("routing", agent.Name, w.f("Routed to %s", agent.Name))
	var texts []string
	var data []any
	for _, a := range asks {
		if a.site != asks[0].site && a.q.Topic.General() { // it is answered already
			continue
		}
		agent := route(a.q.Topic)
		w.status("reading", agent.Name, w.f("Reading what %s reported", label(a.site.Name())))
		said, err := e.say(w, a, all)
		if err != nil {
			return agent, answer{}, err
		}
		said.text = sentences(a.took, said.text, a.note)
		if !one && !a.q.Topic.General() {
			said.text = quoted(a.site.Name()) + ": " + said.text
		}
		texts = append(texts, said.text)
		data = append(data, said.data)
	}
	e.lean(w, asks)
	said := answer{text: strings.Join(texts, "\n\n")}
	if len(data) == 1 {
		said.data = data[0]
	} else {
		said.data = data
	}
	return agent, said, nil
}

// lean keeps what the next sentence may lean on.
func (e *Assistant) lean(w *work, asks []*asked) {
	a := asks[len(asks)-1]
	if a.q.Topic != understand.Nothing && a.q.Topic != understand.Greeting && a.q.Topic != understand.Help && a.q.Unclear == nil {
		q := a.q
		w.conv.Last = &q
	}
	if asks[0].site == asks[len(asks)-1].site {
		w.conv.Site = a.site.Controller.ID
	}
}

// say words the answer of one site by rules.
func (e *Assistant) say(w *work, a *asked, all []platform.Controller) (answer, error) {
	if a.q.Topic == understand.Order {
		return e.preview(w, a)
	}
	if text := a.refused(); text != "" {
		return answer{text: text}, nil
	}
	return e.sayTopic(w, a, all)
}

func (e *Assistant) sayTopic(w *work, a *asked, all []platform.Controller) (answer, error) {
	if a.q.Is(understand.Future) && !a.q.Topic.General() && a.q.Topic != understand.Automation && a.q.Topic != understand.Saving {
		return answer{text: a.f("I do not know: that has not happened yet, and I make no forecasts. I can tell what was measured up to now.")}, nil
	}
	switch a.q.Topic {
	case understand.Energy:
		return a.energy()
	case understand.Power:
		return a.power()
	case understand.Cost:
		return a.cost()
	case understand.Carbon:
		return a.carbon()
	case understand.Lights:
		return a.lights()
	case understand.Colour:
		return a.colour()
	case understand.Shades:
		return a.shades()
	case understand.Faults:
		return a.faults()
	case understand.Offline:
		return a.offline()
	case understand.Inventory:
		return a.inventory()
	case understand.Controllers:
		return e.controllers(a.q, a.site.Now, titled(all)), nil
	case understand.Comfort:
		return a.comfort()
	case understand.Occupancy:
		return a.occupancy()
	case understand.Automation:
		return a.automation()
	case understand.Report:
		return a.report()
	case understand.Sources:
		return a.sources()
	case understand.Saving:
		p, err := a.proposals(platform.Wish{Target: platform.TargetEnergy})
		if err == nil && !a.scope.Whole() {
			p.Ranked = slices.DeleteFunc(p.Ranked, func(one Proposal) bool {
				return !slices.ContainsFunc(a.zonesIn(), func(z platform.Zone) bool { return slices.Contains(one.Zones, z.ID) })
			})
			p.Notes = append(p.Notes, a.f("Only what concerns %s.", a.where()))
		}
		return answer{a.proposalText(p), p}, err
	case understand.Help:
		return help(a.q.Lang), nil
	case understand.Greeting:
		if thanks := bareWords(a.message); slices.ContainsFunc(thanks, func(w string) bool {
			return slices.Contains([]string{"thanks", "thank", "cheers", "danke", "merci"}, w)
		}) {
			return answer{text: a.f("You are welcome.")}, nil
		}
		return answer{text: sentences(a.f("Hello."), help(a.q.Lang).text)}, nil
	}
	return answer{text: sentences(a.f("I did not understand that, so I will not guess."), help(a.q.Lang).text)}, nil
}

// Propose implements [platform.Asker].
func (e *Assistant) Propose(ctx context.Context, wish platform.Wish, tell func(platform.Progress)) (platform.Reply, error) {
	if wish.Period != nil && !wish.Period.Start.Before(wish.Period.End) {
		return platform.Reply{}, platform.Invalid("timeRange ends before it starts")
	}
	if err := checkSession(&wish.Session); err != nil {
		return platform.Reply{}, err
	}
	w := &work{in: platform.Inquiry{Owner: wish.Owner, Session: wish.Session, Site: wish.Site}, tell: tell, now: e.Now(), clock: e.Now, lang: understand.Lang(wish.Lang)}
	w.status("thinking", "", w.f("Reading the target"))
	agent := route(understand.Saving)
	if wish.Target == platform.TargetComfort {
		agent = route(understand.Comfort)
	}
	w.status("routing", agent.Name, w.f("Routed to %s", agent.Name))
	all, err := e.Sites.Controllers(ctx)
	if err != nil {
		return platform.Reply{}, fmt.Errorf("list controllers: %w", err)
	}
	chosen, err := choose(all, w)
	if err != nil {
		return platform.Reply{}, err
	}
	if len(chosen) == 0 || len(chosen) > manySites {
		_, said, err := e.overAll(w, all)
		if err != nil {
			return platform.Reply{}, err
		}
		return w.reply(agent.Name, said)
	}
	var texts []string
	var data []any
	for _, c := range chosen {
		site, err := facts.Look(ctx, e.Sites, c, w.now)
		if err != nil {
			return platform.Reply{}, err
		}
		w.status("reading", agent.Name, w.f("Reading what %s reported", label(site.Name())))
		a := &asked{ctx: ctx, site: site, q: understand.Frame{Lang: w.lang}, price: e.Price}
		p, err := a.proposals(wish)
		if err != nil {
			return platform.Reply{}, err
		}
		texts = append(texts, a.proposalText(p))
		data = append(data, p)
	}
	said := answer{text: strings.Join(texts, "\n\n"), data: data[0]}
	if len(data) > 1 {
		said.data = data
	}
	w.delta(said.text)
	w.status("done", agent.Name, w.f("The answer is complete"))
	return w.reply(agent.Name, said)
}
