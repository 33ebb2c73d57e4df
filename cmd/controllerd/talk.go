package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"svc.internal/controller/appliance"
	"svc.internal/controller/console"
)

// talk is a conversation with whoever stands before a shade. Questions and progress
// go to standard error, so that standard output is left to the outcome.
type talk struct {
	client *console.Client
	shade  console.Shade
	out    io.Writer
	live   bool        // out is a terminal: progress is shown
	typed  bool        // so is the input: what is typed before a question does not answer it
	lines  chan string // of the input, closed at its end; nil before it is read
	in     io.Reader
	ended  bool   // nothing is typed any more
	known  string // --answer; empty: ask
	asked  *console.Question
}

func newTalk(c *cobra.Command, client *console.Client, s console.Shade) *talk {
	return &talk{client: client, shade: s, out: c.ErrOrStderr(), live: isTerminal(c.ErrOrStderr()), in: c.InOrStdin(), typed: isTerminal(c.InOrStdin())}
}

func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (t *talk) say(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

func (t *talk) name() string { return fmt.Sprintf("Shade %d (%s)", t.shade.ID, t.shade.Name) }

// input begins to read what is typed. Reading cannot be ended; it ends with the
// program.
func (t *talk) input() <-chan string {
	if t.lines == nil {
		t.lines = make(chan string)
		go func() {
			defer close(t.lines)
			for in := bufio.NewScanner(t.in); in.Scan(); {
				t.lines <- strings.TrimSpace(in.Text())
			}
		}()
	}
	return t.lines
}

// agree asks whether to begin.
func (t *talk) agree(yes bool) error {
	if yes {
		return nil
	}
	t.say("Begin? [y/N] ")
	line, ok := <-t.input()
	if !ok {
		return errors.New("standard input ended before the answer; nothing was moved: give --yes where nobody can answer")
	}
	if answer := strings.ToLower(line); answer != "y" && answer != "yes" {
		return errors.New("nothing was moved; answer y to begin, or give --yes")
	}
	return nil
}

// run follows a run to its end and answers its questions.
func (t *talk) run(ctx context.Context, begin func(context.Context, func(console.ShadeEvent) error) error) (*console.ShadeResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan console.ShadeEvent)
	over := make(chan error, 1)
	go func() {
		over <- begin(ctx, func(e console.ShadeEvent) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	for {
		select {
		case e := <-events:
			if e.Error != "" {
				t.clear()
				return nil, errors.New(e.Error)
			}
			if e.Result != nil {
				t.clear()
				return e.Result, nil
			}
			if err := t.show(ctx, e); err != nil {
				return nil, err
			}
		case line, ok := <-t.waiting():
			if !ok && t.asked == nil {
				t.ended = true
				continue // nobody is needed yet, perhaps nobody will be
			}
			if !ok {
				cancel()
				return nil, t.givenUp(ctx, "standard input ended before the run was over")
			}
			if err := t.answer(ctx, line); err != nil {
				return nil, err
			}
		case err := <-over:
			if ctx.Err() != nil {
				return nil, t.givenUp(ctx, "given up")
			}
			if no := console.Refusal(""); errors.As(err, &no) || errors.Is(err, console.ErrNotRunning) {
				return nil, err
			}
			return nil, errors.Join(errors.New("the daemon ended or hung up before the run was over; nothing is saved"), err)
		}
	}
}

// standsWithin is how long the end of a run that was given up waits to see the shade
// stand: longer than the daemon waits for its stop to be confirmed.
const standsWithin = 4 * time.Second

// givenUp waits until the shade stands, which the daemon stops as soon as it notices
// that nobody listens any more, and words why the run is over.
func (t *talk) givenUp(ctx context.Context, why string) error {
	t.clear()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), standsWithin)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		shades, err := t.client.Shades(ctx)
		for _, s := range shades {
			if s.ID == t.shade.ID && s.Motion == appliance.Stopped.String() {
				return fmt.Errorf("%s; the shade was stopped, and nothing is saved", why)
			}
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s; nothing is saved, and whether the shade stands is not known: %w", why, err)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("%s; the shade was told to stop, but is not known to stand after %v: look at it; nothing is saved", why, standsWithin)
		}
	}
}

// waiting is the input while it is wanted: a script's lines stay for the questions
// to come, what somebody types before a question is dropped.
func (t *talk) waiting() <-chan string {
	if t.asked == nil && (!t.typed || t.ended) {
		return nil
	}
	return t.input()
}

func upDown(up bool) string {
	if up {
		return console.WentUp
	}
	return console.WentDown
}

func (t *talk) show(ctx context.Context, e console.ShadeEvent) error {
	switch {
	case e.Moving != nil && t.live:
		at := ""
		if e.Moving.Position != nil {
			at = fmt.Sprintf(", at %d %%", *e.Moving.Position)
		}
		t.say("\r  going %s, %5.1f s%s   ", upDown(e.Moving.Up), e.Moving.Seconds, at)
	case e.Measured != nil:
		t.clear()
		t.say("  run %d, %s: %.2f s ± %.2f s\n", e.Measured.Run, upDown(e.Measured.Up), e.Measured.Seconds, e.Measured.Uncertainty)
	case e.Ask != nil:
		return t.ask(ctx, *e.Ask)
	}
	return nil
}

// ask puts a question, or answers it from what is known.
func (t *talk) ask(ctx context.Context, q console.Question) error {
	t.clear()
	t.asked = &q
	switch q.Ask {
	case console.AskBegin:
		t.say("Next it goes %s. Press Enter to start it. ", upDown(q.Up))
	case console.AskStands:
		t.say("It goes %s. Press Enter when it stands. ", upDown(q.Up))
		if t.live {
			t.say("\n")
		}
	case console.AskWent:
		if t.known != "" {
			return t.answer(ctx, upDown(q.Up == (t.known == console.WentUp)))
		}
		t.say("Which way did it go? [u]p, [d]own, [n]ot at all: ")
	default:
		return fmt.Errorf("the daemon asks %q, which this program does not understand; both have to be of the same version", q.Ask)
	}
	return nil
}

// answer sends what was typed, if it answers the question that is open.
func (t *talk) answer(ctx context.Context, line string) error {
	q := t.asked
	if q == nil {
		return nil
	}
	if q.Ask == console.AskWent {
		words := map[string]string{"u": console.WentUp, "up": console.WentUp, "d": console.WentDown, "down": console.WentDown,
			"n": console.WentNowhere, "none": console.WentNowhere, "not at all": console.WentNowhere}
		word, ok := words[strings.ToLower(line)]
		if !ok {
			t.say("Please answer u, d or n: ")
			return nil
		}
		line = word
	}
	t.asked = nil
	if err := t.client.Answer(ctx, t.shade.ID, *q, line); err != nil && ctx.Err() == nil {
		t.say("%v\n", err) // why the run is over is on its way
	}
	return nil
}

// clear wipes the line that shows progress.
func (t *talk) clear() {
	if t.live {
		t.say("\r%-40s\r", "")
	}
}
