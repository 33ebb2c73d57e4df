// Package openai speaks the chat completions protocol with any server that has it: one POST, one stream of events. It is
// written by hand because servers differ in what they leave out, and the vendor's library would be the largest of all.
package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/platform/assistant/model"
)

// Bounds of what a server may send.
const (
	maxLine   = 1 << 20
	maxAnswer = 4 << 20
	maxBody   = 4 << 10 // of an error
	tries     = 3
	maxWait   = 10 * time.Second // that a server may ask us to wait
)

// Client of one server.
type Client struct {
	URL      string // base, such as http://127.0.0.1:11434/v1
	Key      string // empty: none is sent
	Model    string
	Patience model.Patience
	HTTP     *http.Client // nil: the default one
}

// Name implements [model.Model].
func (c *Client) Name() string { return c.Model }

// Stream implements [model.Model].
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		ctx, heard, stop := c.Patience.Watch(ctx)
		defer stop()
		body, err := json.Marshal(c.pack(r))
		if err != nil {
			yield(model.Event{}, fmt.Errorf("pack request: %w", err))
			return
		}
		res, err := c.post(ctx, body)
		if err != nil {
			yield(model.Event{}, model.Because(ctx, err))
			return
		}
		defer res.Body.Close()
		if err := read(res.Body, heard, yield); err != nil {
			yield(model.Event{}, model.Because(ctx, err))
		}
	}
}

// post sends a request, again where the server asks for patience.
func (c *Client) post(ctx context.Context, body []byte) (*http.Response, error) {
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+"/chat/completions", bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("ask language model: %w", err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream")
		if c.Key != "" {
			req.Header.Set("Authorization", "Bearer "+c.Key)
		}
		res, err := client.Do(req)
		if err != nil {
			return nil, fmt.Errorf("ask language model: %w", err)
		}
		if res.StatusCode == http.StatusOK {
			return res, nil
		}
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxBody)) // what came of it serves the log
		res.Body.Close()
		failed := &model.HTTPError{Status: res.StatusCode, Body: strings.TrimSpace(string(text))}
		if !errors.Is(failed, model.ErrBusy) || try == tries {
			return nil, failed
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait(res.Header.Get("Retry-After"), try)):
		}
	}
}

func wait(after string, try int) time.Duration {
	if s, err := strconv.Atoi(after); err == nil && s >= 0 {
		return min(time.Duration(s)*time.Second, maxWait)
	}
	return time.Duration(try*try) * 250 * time.Millisecond
}

// call gathers the pieces of one tool call.
type call struct {
	key       string
	id, name  string
	arguments strings.Builder
}

// chunk is one event of the stream. Pointers tell what servers leave out.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string `json:"content"`
			Refusal   string `json:"refusal"`
			ToolCalls []struct {
				Index    *int   `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

// read turns the stream into events. Calls are told when it is over, since only then they are known to be complete.
func read(r io.Reader, heard func(), yield func(model.Event, error) bool) error {
	lines := bufio.NewScanner(io.LimitReader(r, maxAnswer))
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var calls []*call
	finish, refused := "", false
	for lines.Scan() {
		heard()
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		data = strings.TrimSpace(data)
		if !ok || data == "" {
			continue
		}
		if data == "[DONE]" {
			break
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return fmt.Errorf("read an event of the language model: %w", err)
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return fmt.Errorf("language model reports an error: %.500s", c.Error)
		}
		if len(c.Choices) == 0 {
			continue
		}
		one := c.Choices[0]
		refused = refused || one.Delta.Refusal != ""
		if one.FinishReason != "" {
			finish = one.FinishReason
		}
		if one.Delta.Content != "" && !yield(model.Event{Text: one.Delta.Content}, nil) {
			return nil
		}
		for _, piece := range one.Delta.ToolCalls {
			key := piece.ID
			if piece.Index != nil {
				key = strconv.Itoa(*piece.Index)
			}
			gather(&calls, key, piece.ID, piece.Function.Name, piece.Function.Arguments)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the stream of the language model: %w", err)
	}
	if finish == "" {
		return model.ErrCut
	}
	return finishUp(calls, finish, refused, yield)
}

// gather adds a piece to the call it belongs to. A piece without index and ID goes on with the last one, unless it has a
// name and so begins another.
func gather(calls *[]*call, key, id, name, arguments string) {
	i := slices.IndexFunc(*calls, func(c *call) bool { return c.key == key && key != "" })
	if i < 0 && key == "" && name == "" && len(*calls) > 0 {
		i = len(*calls) - 1
	}
	if i < 0 {
		*calls = append(*calls, &call{key: key})
		i = len(*calls) - 1
	}
	c := (*calls)[i]
	if id != "" {
		c.id = id
	}
	c.name += name
	c.arguments.WriteString(arguments)
}

func finishUp(calls []*call, finish string, refused bool, yield func(model.Event, error) bool) error {
	if finish != "length" { // what was cut off is no call
		for i, c := range calls {
			arguments := c.arguments.String()
			if arguments == "" {
				arguments = "{}"
			}
			if !json.Valid([]byte(arguments)) {
				return fmt.Errorf("language model calls %s with arguments that are no JSON", c.name)
			}
			if c.id == "" {
				c.id = "call-" + strconv.Itoa(i)
			}
			if !yield(model.Event{Call: &model.Call{ID: c.id, Name: c.name, Arguments: json.RawMessage(arguments)}}, nil) {
				return nil
			}
		}
	}
	stop := model.End
	switch {
	case refused, finish == "content_filter":
		stop = model.Refused
	case finish == "length":
		stop = model.Length
	case len(calls) > 0:
		stop = model.ForTool
	}
	yield(model.Event{Stop: stop}, nil)
	return nil
}
