package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"svc.internal/controller/platform/understand"
)

const (
	// followMost is how long an order may be on its way before it is told as not there: the longest travel of a shade takes less.
	followMost = 5 * time.Minute
	// followEvery is how often it is looked at what became of orders, and followMany how many are looked after at once; of more, it
	// is looked when somebody asks.
	followEvery = time.Second
	followMany  = 1000
	// ordersKept of an owner are remembered, the newest.
	ordersKept = 20
)

// ordersSession is the conversation that an owner's orders are kept as: nobody's conversation has no name.
const ordersSession = ""

// Gave is an order that was given, and what became of it, in words.
type Gave struct {
	ID         string    `json:"id"`
	Controller string    `json:"controller"`
	At         time.Time `json:"at"`
	Text       string    `json:"text"` // in three words: done, on its way, not done
	OnItsWay   bool      `json:"onItsWay"`
	EndedAt    time.Time `json:"endedAt,omitzero"`
	Lost       bool      `json:"lost,omitempty"` // given up, with something still on its way

	Lang understand.Lang `json:"lang,omitempty"` // of the text; empty: English
}

// follower looks after orders that are on their way.
type follower struct {
	mu     sync.Mutex
	orders map[string]followed // by the order's ID

	look sync.Mutex // while it is looked what became of them
	book sync.Mutex // while an owner's orders are read and written
}

// followed is an order, and whose it is.
type followed struct {
	owner   string
	session string // that keeps its end with all zones; empty: none does
	order   *Ordered
}

// take looks after an order from now on.
func (f *follower) take(owner string, o Ordered) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.orders) >= followMany {
		return
	}
	if f.orders == nil {
		f.orders = map[string]followed{}
	}
	o.Results = slices.Clone(o.Results)
	f.orders[o.ID] = followed{owner: owner, order: &o}
}

// keepIn has a conversation keep the end of an order, if that is looked after: one in which nothing else is said.
func (f *follower) keepIn(id, session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.orders[id]; ok {
		one.session = session
		f.orders[id] = one
	}
}

func (f *follower) has(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.orders[id]
	return ok
}

func (f *follower) drop(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.orders, id)
}

// byController lists what is looked after.
func (f *follower) byController() map[string][]followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]followed{}
	for _, one := range f.orders {
		out[one.order.Controller] = append(out[one.order.Controller], one)
	}
	return out
}

// Run looks after orders that are on their way until ctx ends, and notes how they end.
func (e *Assistant) Run(ctx context.Context) error {
	look := time.NewTicker(followEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			for controller, list := range e.following.byController() {
				e.lookAfter(ctx, controller, list)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// lookAfter looks what became of orders at a controller.
func (e *Assistant) lookAfter(ctx context.Context, controller string, list []followed) {
	e.following.look.Lock()
	defer e.following.look.Unlock()
	devices, err := e.Sites.Devices(ctx, controller)
	for _, f := range list {
		if !e.following.has(f.order.ID) {
			continue // somebody else has seen its end
		}
		if err == nil {
			f.order.judge(devices)
		}
		if now := e.Now(); !f.order.under() || now.Sub(f.order.At) > followMost {
			f.order.EndedAt = now
			err := e.note(ctx, f.owner, f.order)
			if err == nil && f.session != "" {
				err = e.keep(ctx, f.owner, f.session, Conversation{Sent: f.order})
			}
			if err != nil && ctx.Err() == nil {
				e.Log.Warn("how an order ended was not kept", "controller", controller, "why", err)
			}
			e.following.drop(f.order.ID)
		}
	}
}

// gave reads what an owner ordered, oldest first.
func (e *Assistant) gave(ctx context.Context, owner string) (all []Gave, err error) {
	body, err := e.History.Conversation(ctx, owner, ordersSession)
	if err != nil {
		return nil, fmt.Errorf("read orders: %w", err)
	}
	if len(body) > 0 && json.Unmarshal(body, &all) != nil {
		return nil, nil // of another version
	}
	return all, nil
}

// note keeps what became of an order.
func (e *Assistant) note(ctx context.Context, owner string, o *Ordered) error {
	e.following.book.Lock()
	defer e.following.book.Unlock()
	all, err := e.gave(ctx, owner)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(g Gave) bool { return g.ID == o.ID })
	all = append(all, Gave{o.ID, o.Controller, o.At, clip(o.text(), maxTurnText), o.EndedAt.IsZero(), o.EndedAt, !o.EndedAt.IsZero() && o.under(), o.Lang})
	slices.SortStableFunc(all, func(a, b Gave) int { return a.At.Compare(b.At) })
	body, err := json.Marshal(all[max(0, len(all)-ordersKept):])
	if err == nil {
		err = e.History.KeepConversation(ctx, owner, ordersSession, body)
	}
	if err != nil {
		return fmt.Errorf("keep orders: %w", err)
	}
	return nil
}

// howItEnded tells, once, what became of an order that was on its way when it was last spoken of; empty while it still is.
func (e *Assistant) howItEnded(ctx context.Context, owner string, conv *Conversation, now time.Time) string {
	o := conv.Sent
	if o == nil {
		return ""
	}
	text, over := e.endOf(ctx, owner, o, now)
	if !over {
		return ""
	}
	conv.Sent = nil
	return text
}

// endOf words how an order ended; over is false while it has not.
func (e *Assistant) endOf(ctx context.Context, owner string, o *Ordered, now time.Time) (text string, over bool) {
	e.lookAfter(ctx, o.Controller, e.following.byController()[o.Controller])
	if e.following.has(o.ID) {
		return "", false
	}
	all, err := e.gave(ctx, owner)
	i := slices.IndexFunc(all, func(g Gave) bool { return g.ID == o.ID && !g.OnItsWay })
	if err == nil && i >= 0 && o.ID != "" {
		return o.ended(all[i].Text, all[i].Lost, now), true
	}
	devices, err := e.Sites.Devices(ctx, o.Controller) // this program was not there to see
	if err == nil {
		o.judge(devices)
	}
	if o.under() && now.Sub(o.At) <= followMost {
		return "", false
	}
	return o.ended(o.text(), o.under(), now), true
}

// ended words how an order ended.
func (o *Ordered) ended(text string, lost bool, now time.Time) string {
	now = now.In(o.At.Location()) // that of the building
	if lost {
		return in(o.Lang, "Of what you told me at %s I have not seen the end: %s", moment(o.At, now), text)
	}
	return in(o.Lang, "Of what you told me at %s: %s", moment(o.At, now), text)
}

// ordered is what an owner ordered lately, for [Assistant.Health].
func (e *Assistant) ordered(ctx context.Context, owner string, now time.Time) ([]Gave, error) {
	all, err := e.gave(ctx, owner)
	for i := range all {
		g := &all[i]
		switch {
		case g.OnItsWay && now.Sub(g.At) > followMost+2*followEvery: // this program was not there to see
			g.OnItsWay = false
			g.Text += " " + in(g.Lang, "It was not seen how that ended.")
		case g.Lost:
			g.Text += " " + in(g.Lang, "After 5 minutes its end had not been seen.")
		}
	}
	return all, err
}
