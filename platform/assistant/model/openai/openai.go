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
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/platform/assistant/model"
)

// Bounds of what a server may send.
const (
	maxLine    = 1 << 20
	answerMost = 64 * model.MaxAnswer // all events of an answer: each letter of a form may come in one
	maxBody    = 4 << 10              // of an error
	tries      = 3
	maxWait    = 10 * time.Second // that a server may ask us to wait
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

// chunk is one event of the stream.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string            `json:"content"`
			Refusal   string            `json:"refusal"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// read turns the stream into events.
func read(r io.Reader, heard func(), yield func(model.Event, error) bool) error {
	all := &io.LimitedReader{R: r, N: answerMost}
	lines := bufio.NewScanner(all)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	finish, refused, tokens := "", false, 0
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
			return fmt.Errorf("%w: %w", model.ErrUseless, err)
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return fmt.Errorf("language model reports an error: %.500s", c.Error)
		}
		if c.Usage != nil {
			tokens = c.Usage.Total
		}
		if len(c.Choices) == 0 {
			continue
		}
		one := c.Choices[0]
		refused = refused || one.Delta.Refusal != ""
		if one.FinishReason != "" {
			finish = one.FinishReason
		}
		if len(one.Delta.ToolCalls) > 0 {
			return fmt.Errorf("%w: it calls a tool, and none was offered", model.ErrUseless)
		}
		if one.Delta.Content != "" && !yield(model.Event{Text: one.Delta.Content}, nil) {
			return nil
		}
	}
	switch err := lines.Err(); {
	case all.N == 0, errors.Is(err, bufio.ErrTooLong):
		return model.ErrEndless
	case err != nil:
		return fmt.Errorf("read the stream of the language model: %w", err)
	case finish == "":
		return model.ErrCut
	}
	stop := model.End
	switch {
	case refused, finish == "content_filter":
		stop = model.Refused
	case finish == "length":
		stop = model.Length
	}
	_ = yield(model.Event{Tokens: tokens}, nil) && yield(model.Event{Stop: stop}, nil)
	return nil
}
