package dmx

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// pro is an Enttec DMX USB Pro or a compatible widget. It repeats the last
// universe by itself.
type pro struct {
	driver  *Driver
	options busOptions
	line    *line.Line
	gap     time.Duration // between the beginnings of two frames
	ports   *line.Ports   // nil: this machine's
	tick    time.Duration // between two looks at what is due
	wake    chan struct{} // the universe is to be sent again now

	// Held with the driver's turn.
	begun time.Time     // of the last universe
	guard time.Duration // silence before whatever is sent next
	// Until then an answer to a parameter question, or the outcome of an RDM
	// question, may come that was given up.
	late, lateRDM time.Time
	number        byte // of the last RDM transaction
	uid           UID  // ours; 0: not known yet

	mu     sync.Mutex
	stale  bool // the widget may show something else than the universe
	widget *Widget
}

func newPro(d *Driver, cfg line.Config) (*pro, error) {
	l, err := line.New(cfg)
	if err != nil {
		return nil, err
	}
	return &pro{
		driver: d, ports: cfg.Ports, options: d.options, line: l, wake: make(chan struct{}, 1),
		gap:  time.Second / time.Duration(d.options.rate),
		tick: min(lookEvery, d.options.refresh/2),
	}, nil
}

func (p *pro) link() error               { return p.line.Link() }
func (p *pro) recent() []appliance.Frame { return p.line.Recent() }
func (p *pro) follow(ctx context.Context) <-chan appliance.Frame {
	return p.line.Follow(ctx)
}

// lookEvery is how soon a widget that was plugged in gets the universe.
const lookEvery = 100 * time.Millisecond

func (p *pro) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { p.keepUp(ctx) })
	err := p.line.Run(ctx)
	cancel()
	wg.Wait()
	return err
}

// keepUp sends the universe to a widget that was found, after whatever stopped
// its output, and at least once a second.
func (p *pro) keepUp(ctx context.Context) {
	ticker := time.NewTicker(p.tick)
	defer ticker.Stop()
	fed := false // since the link is up
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-p.wake:
		}
		if p.line.Link() != nil {
			fed = false
			continue
		}
		fed = p.refresh(ctx, !fed) || fed
	}
}

// refresh sends the universe if it is due; true means that it was, or that there
// is none yet.
func (p *pro) refresh(ctx context.Context, now bool) bool {
	if p.driver.take(ctx) != nil {
		return false
	}
	defer p.driver.give()
	p.mu.Lock()
	now = now || p.stale
	p.mu.Unlock()
	// A tick too early rather than one too late.
	if !now && time.Since(p.begun) < p.options.refresh-p.tick {
		return true
	}
	return p.restore(ctx) == nil
}

// restore sends the universe as it stands, if anything is known of it. Nobody
// answers; a failure leaves it due.
func (p *pro) restore(ctx context.Context) error {
	slots, active := p.driver.present()
	if !active {
		return nil
	}
	err := p.pace(ctx)
	if err == nil {
		_, err = p.exchange(ctx, line.Request{Frame: outputFrame(nil, slots), Actuates: true})
	}
	p.mu.Lock()
	p.stale = err != nil
	p.mu.Unlock()
	return err
}

// exchange talks to the widget once it has had the silence it needs.
func (p *pro) exchange(ctx context.Context, r line.Request) (line.Reply, error) {
	r.Guard = p.guard
	reply, err := p.line.Exchange(ctx, r)
	if !reply.Sent.IsZero() {
		p.guard = 0
	}
	return reply, err
}

// pace keeps to the packets a second.
func (p *pro) pace(ctx context.Context) error {
	next := p.begun.Add(p.gap)
	if deadline, ok := ctx.Deadline(); ok && next.After(deadline) && next.After(time.Now()) {
		return fmt.Errorf("bus %s: %w: %d frames a second are on the way already", p.driver.name, appliance.ErrExpired, p.options.rate)
	}
	if time.Now().Before(next) {
		if err := p.ports.SleepUntil(ctx, next); err != nil {
			return fmt.Errorf("bus %s: %w: %w", p.driver.name, appliance.ErrExpired, err)
		}
	}
	p.begun = time.Now()
	return nil
}

// show sends a universe, and right behind it the one question that does not stop
// the output: its answer says that the widget has taken both.
func (p *pro) show(ctx context.Context, y appliance.Yield, slots []byte) (time.Time, error) {
	if err := p.outwait(ctx, y, p.late); err != nil {
		return time.Time{}, err
	}
	if err := p.pace(ctx); err != nil {
		return time.Time{}, err
	}
	frame := append(outputFrame(nil, slots), parametersQuery...)
	sent, err := p.question(ctx, y, frame)
	if err != nil && !sent.IsZero() {
		p.doubt()
	}
	return sent, err
}

// doubt makes the universe due at once: the widget may show another.
func (p *pro) doubt() {
	p.mu.Lock()
	p.stale = true
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pro) check(ctx context.Context, y appliance.Yield) (time.Time, error) {
	return p.question(ctx, y, parametersQuery)
}

// outwait waits until the answer to a question that was given up can come no more:
// answers carry no number, and it would be taken for that to the next question.
func (p *pro) outwait(ctx context.Context, y appliance.Yield, late time.Time) error {
	wait := time.Until(late)
	if wait <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && late.After(deadline) {
		return fmt.Errorf("bus %s: %w: a late answer of the widget has to be waited for", p.driver.name, appliance.ErrExpired)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-y.Begin:
		return fmt.Errorf("bus %s: %w before anything was sent", p.driver.name, appliance.ErrPreempted)
	case <-ctx.Done():
		return fmt.Errorf("bus %s: %w: %w", p.driver.name, appliance.ErrExpired, ctx.Err())
	}
}

// question sends a frame that ends with the question for the parameters.
func (p *pro) question(ctx context.Context, y appliance.Yield, frame []byte) (time.Time, error) {
	if err := p.outwait(ctx, y, p.late); err != nil {
		return time.Time{}, err
	}
	reply, err := p.exchange(ctx, line.Request{
		Frame: frame, Timeout: p.options.responseTimeout, Yield: y, Actuates: true,
		Scan: scanFor(func(f widgetFrame) bool { return f.label == labelParameters && len(f.data) >= 5 }),
	})
	if err != nil && !reply.Sent.IsZero() {
		p.late = reply.Sent.Add(2 * p.options.responseTimeout)
	}
	switch {
	case err == nil:
	case errors.Is(err, appliance.ErrSilent):
		return reply.Sent, fmt.Errorf("%w: the widget on the USB port does not answer; is it an Enttec DMX USB Pro or compatible (option interface), and does its light blink?", err)
	default:
		return reply.Sent, fmt.Errorf("widget: %w", err)
	}
	f, err := parseFrame(reply.Frame)
	if err != nil {
		return reply.Sent, fmt.Errorf("bus %s: widget: %w: %w", p.driver.name, appliance.ErrDamaged, err)
	}
	w, err := parseWidget(f.data)
	if err != nil {
		return reply.Sent, fmt.Errorf("bus %s: widget: %w: %w", p.driver.name, appliance.ErrDamaged, err)
	}
	p.learn(w)
	return reply.Sent, nil
}

// learn keeps what the widget says of itself, and tells it once.
func (p *pro) learn(w Widget) {
	p.mu.Lock()
	news := p.widget == nil || *p.widget != w
	p.widget = &w
	p.mu.Unlock()
	if news {
		p.driver.log.Info("widget found", "firmware", fmt.Sprintf("%d.%d", w.FirmwareHigh, w.FirmwareLow), "packetsPerSecond", w.Rate, "rdm", w.RDM())
	}
}

func (p *pro) known() *Widget {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.widget
}

// scanFor accepts the first frame that is wanted and skips all others, and noise.
func scanFor(wanted func(widgetFrame) bool) func([]byte) (int, line.Verdict) {
	return func(b []byte) (int, line.Verdict) {
		f, n, ok := cut(b)
		switch {
		case n == 0:
			return 0, line.More
		case ok && wanted(f):
			return n, line.Accept
		}
		return n, line.Skip
	}
}

// usbTurn is about what a question over USB and its answer take.
const usbTurn = 2 * time.Millisecond

func (p *pro) busy(slots int) (typical, worst time.Duration) {
	frame := len(outputFrame(nil, make([]byte, slots))) + len(parametersQuery)
	typical = max(p.gap, p.line.Airtime(frame)) + usbTurn
	return typical, typical + p.options.responseTimeout
}
