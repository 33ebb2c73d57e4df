package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"svc.internal/controller/admin/api"
)

// eventMost is the longest line of a stream: a job with all it found.
const eventMost = 16 << 20

// events calls each with every event of a stream, until that ends, ctx ends or each
// fails. The stream has begun when begun is called, which may be nil.
func events[T any](ctx context.Context, l *local, path string, begun func() error, each func(T) error) error {
	res, err := l.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if begun != nil {
		if err := begun(); err != nil {
			return err
		}
	}
	in := bufio.NewScanner(res.Body)
	in.Buffer(nil, eventMost)
	for in.Scan() {
		if in.Text() == "event: displaced" {
			return errors.New("the daemon ended this stream: too many are open; end others and try again")
		}
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		var v T
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			return fmt.Errorf("%w: read its answer: %w", errHungUp, err)
		}
		if err := each(v); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case in.Err() != nil:
		return fmt.Errorf("%w: %w", errHungUp, in.Err())
	}
	return nil
}

// frames calls each for every frame that the flight recorder of a bus has, and with
// follow for those to come.
func (l *local) frames(ctx context.Context, bus string, follow bool, each func(api.Frame) error) error {
	var last api.Frame
	recent := func() error {
		var list []api.Frame
		if err := l.get(ctx, pathOf("buses", bus, "frames"), &list); err != nil {
			return err
		}
		for _, f := range list {
			last = f
			if err := each(f); err != nil {
				return err
			}
		}
		return nil
	}
	if !follow {
		return recent()
	}
	// What passes while the others are fetched is in both.
	return events(ctx, l, pathOf("buses", bus, "monitor"), recent, func(f api.Frame) error {
		if !f.At.After(last.At) {
			return nil
		}
		return each(f)
	})
}
