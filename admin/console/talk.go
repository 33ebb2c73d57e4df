package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

// talk is a conversation with whoever stands before a shade. Questions and progress
// go to standard error, so that standard output is left to the outcome.
type talk struct {
	client *local
	out    io.Writer
	live   bool // out is a terminal: progress is shown
	in     input
	// Somebody else may answer: the run is not over when nothing is typed any more.
	onlooker bool
	known    string // --answer; empty: ask
	asked    *api.JobQuestion
	number   int // of the last question that was put
	told     int // measured legs
}

// input is where answers come from.
type input struct {
	io.Reader
	typed bool        // it is a terminal: what is typed before a question does not answer it
	lines chan string // closed at its end; nil before it is read
	ended bool        // nothing is typed any more
}

func newTalk(c *cobra.Command, client *local) *talk {
	return &talk{client: client, out: c.ErrOrStderr(), live: cli.IsTerminal(c.ErrOrStderr()), in: input{Reader: c.InOrStdin(), typed: cli.IsTerminal(c.InOrStdin())}}
}

func (t *talk) say(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

// read begins to read what is typed. Reading cannot be ended; it ends with the program.
func (in *input) read() <-chan string {
	if in.lines == nil {
		in.lines = make(chan string)
		go func() {
			defer close(in.lines)
			for s := bufio.NewScanner(in); s.Scan(); {
				in.lines <- strings.TrimSpace(s.Text())
			}
		}()
	}
	return in.lines
}

// agree asks whether to begin.
func (t *talk) agree(yes bool) error {
	if yes {
		return nil
	}
	t.say("Begin? [y/N] ")
	line, ok := <-t.in.read()
	if !ok {
		return errors.New("standard input ended before the answer; nothing was moved: give --yes where nobody can answer")
	}
	if answer := strings.ToLower(line); answer != "y" && answer != "yes" {
		return errors.New("nothing was moved; answer y to begin, or give --yes")
	}
	return nil
}

// shadeJob is a run under way or over.
type shadeJob = job[api.MeasuredLeg]

// run begins a job of a shade and sees it through. Who gives it up stops the shade.
func (t *talk) run(ctx context.Context, in api.JobRequest) (*api.ShadeResult, error) {
	begun, err := t.client.start(ctx, in)
	if err != nil {
		return nil, err
	}
	done, err := t.follow(ctx, begun.ID)
	switch {
	case ctx.Err() != nil:
		return nil, t.giveUp(ctx, begun, "given up")
	case errors.Is(err, errNobodyAnswers):
		return nil, t.giveUp(ctx, begun, err.Error())
	case errors.Is(err, errHungUp):
		return nil, errors.Join(errors.New("the daemon ended or hung up before the run was over; nothing is saved"), err)
	case err != nil:
		return nil, err
	}
	return done.Result, nil
}

// errNobodyAnswers: a question is open, and nothing more is typed.
var errNobodyAnswers = errors.New("standard input ended before the run was over")

// follow shows a job of a shade and answers its questions, until it is over or ctx ends.
func (t *talk) follow(ctx context.Context, id string) (shadeJob, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		job shadeJob
		err error
	}
	changes, over := make(chan shadeJob), make(chan end, 1)
	go func() {
		j, err := watchJob(ctx, t.client, id, func(j shadeJob) error {
			select {
			case changes <- j:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		over <- end{j, err}
	}()
	for {
		select {
		case j := <-changes:
			if err := t.show(ctx, j); err != nil {
				return j, err
			}
		case line, ok := <-t.waiting():
			if !ok && (t.asked == nil || t.onlooker) {
				t.in.ended = true
				continue // nobody is needed yet, perhaps nobody will be
			}
			if !ok {
				return shadeJob{}, errNobodyAnswers
			}
			if err := t.answer(ctx, id, line); err != nil {
				return shadeJob{}, err
			}
		case e := <-over:
			t.clear()
			return e.job, e.err
		}
	}
}

// standsWithin is how long the end of a run that was given up waits to see the shade
// stand: longer than the daemon waits for its stop to be confirmed.
const standsWithin = 4 * time.Second

// giveUp cancels a job, waits until its shade stands and words why the run is over.
func (t *talk) giveUp(ctx context.Context, begun api.Job, why string) error {
	t.clear()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), standsWithin)
	defer cancel()
	unknown := func(err error) error {
		return fmt.Errorf("%s; nothing is saved, and whether the shade stands is not known: %w", why, err)
	}
	if _, err := t.client.cancel(ctx, begun.ID); err != nil && !errors.As(err, new(refused)) { // it may be over
		return unknown(err)
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		var s api.Shade
		err := t.client.get(ctx, pathOf("shades", fmt.Sprint(begun.Shade)), &s)
		if err == nil && s.Motion == appliance.Stopped.String() {
			return fmt.Errorf("%s; the shade was stopped, and nothing is saved", why)
		}
		if err != nil && ctx.Err() == nil {
			return unknown(err)
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
	if t.asked == nil && (!t.in.typed || t.in.ended) || t.onlooker && t.in.ended {
		return nil
	}
	return t.in.read()
}

func upDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

// show tells what is new about a job.
func (t *talk) show(ctx context.Context, j shadeJob) error {
	for _, leg := range j.Items[min(t.told, len(j.Items)):] {
		t.clear()
		t.say("  run %d, %s: %.2f s ± %.2f s\n", leg.Run, upDown(leg.Up), leg.Seconds, leg.Uncertainty)
	}
	t.told = len(j.Items)
	if m := j.Progress.Moving; m != nil && t.live {
		at := ""
		if m.Position != nil {
			at = fmt.Sprintf(", at %d %%", *m.Position)
		}
		t.say("\r  going %s, %5.1f s%s   ", upDown(m.Up), m.Elapsed, at)
	}
	switch q := j.Question; {
	case q == nil:
		t.asked = nil // somebody else may have answered it
	case q.Number != t.number:
		return t.ask(ctx, j)
	}
	return nil
}

// ask puts a question, or answers it from what is known.
func (t *talk) ask(ctx context.Context, j shadeJob) error {
	id, q := j.ID, *j.Question
	t.clear()
	t.asked, t.number = &q, q.Number
	switch q.Ask {
	case appliance.AskBegin:
		t.say("Next it goes %s. Press Enter to start it. ", upDown(q.Leg.Up))
	case appliance.AskStands:
		if q.Again == string(appliance.AgainSoon) {
			t.say("No shade is at its end so soon; look again.\n")
		}
		t.say("It goes %s. Press Enter when it stands. ", upDown(q.Leg.Up))
		if t.live {
			t.say("\n")
		}
	case appliance.AskWent:
		if t.known != "" {
			return t.answer(ctx, id, upDown(q.Leg.Up == (t.known == "up")))
		}
		t.say("Which way did it go? [u]p, [d]own, [n]ot at all: ")
	case appliance.AskSure:
		t.say("That is %.1f s, and the other way took %.1f s. Does it really stand? [y/N] ", q.Took, q.Other)
	case appliance.AskSave:
		if r := j.Result; r != nil {
			t.say("Up %s, was %s; down %s, was %s. ", travelTime(r.New.TravelUp), travelTime(r.Old.TravelUp), travelTime(r.New.TravelDown), travelTime(r.Old.TravelDown))
		}
		t.say("Keep the new times? [y/N] ")
	default:
		return fmt.Errorf("the daemon asks %q, which this program does not understand; both have to be of the same version", q.Ask)
	}
	return nil
}

// answer sends what was typed, if it answers the question that is open.
func (t *talk) answer(ctx context.Context, id, line string) error {
	q := t.asked
	if q == nil {
		return nil
	}
	said := q.Choices[0]
	if q.Ask == appliance.AskSure || q.Ask == appliance.AskSave {
		if typed := strings.ToLower(line); typed != "y" && typed != "yes" {
			said = "no"
		}
	}
	if q.Ask == appliance.AskWent {
		words := map[string]string{"u": "up", "d": "down", "n": "none", "not at all": "none"}
		typed := strings.ToLower(line)
		if said = cmp.Or(words[typed], typed); !slices.Contains(q.Choices, said) {
			t.say("Please answer u, d or n: ")
			return nil
		}
	}
	t.asked = nil
	err := t.client.call(ctx, http.MethodPost, pathOf("jobs", id, "answer"), api.JobAnswer{Number: q.Number, Answer: said}, nil)
	if err != nil && ctx.Err() == nil {
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
