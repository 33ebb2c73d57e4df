package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform/assistant/model"
	"svc.internal/controller/platform/assistant/model/anthropic"
	"svc.internal/controller/platform/assistant/model/openai"
)

// A turn is what the stub's model says, whatever the protocol.
type turn struct {
	text  []string
	calls []model.Call
	stop  model.Stop // "": the stream is cut
	fail  bool       // an error event instead of the end
}

// A dialect writes a turn in a vendor's protocol.
type dialect struct {
	name    string
	write   func(turn) string
	make    func(url string) model.Model
	overage int // the status of an overloaded server
}

func event(name string, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if name != "" {
		return "event: " + name + "\ndata: " + string(b) + "\n\n"
	}
	return "data: " + string(b) + "\n\n"
}

type o = map[string]any

func writeAnthropic(t turn) string {
	var b strings.Builder
	b.WriteString(event("message_start", o{"type": "message_start", "message": o{"id": "m", "type": "message", "role": "assistant", "model": "stub", "content": []any{}, "stop_reason": nil, "usage": o{"input_tokens": 7, "output_tokens": 1}}}))
	b.WriteString(event("ping", o{"type": "ping"}))
	b.WriteString(event("a_new_kind", o{"type": "a_new_kind", "x": 1}))
	i := 0
	if len(t.text) > 0 {
		b.WriteString(event("content_block_start", o{"type": "content_block_start", "index": i, "content_block": o{"type": "text", "text": ""}}))
		for _, s := range t.text {
			b.WriteString(event("content_block_delta", o{"type": "content_block_delta", "index": i, "delta": o{"type": "text_delta", "text": s}}))
		}
		b.WriteString(event("content_block_stop", o{"type": "content_block_stop", "index": i}))
		i++
	}
	for _, c := range t.calls {
		b.WriteString(event("content_block_start", o{"type": "content_block_start", "index": i, "content_block": o{"type": "tool_use", "id": c.ID, "name": c.Name, "input": o{}}}))
		half := len(c.Arguments) / 2
		for _, s := range []string{string(c.Arguments[:half]), string(c.Arguments[half:])} {
			b.WriteString(event("content_block_delta", o{"type": "content_block_delta", "index": i, "delta": o{"type": "input_json_delta", "partial_json": s}}))
		}
		b.WriteString(event("content_block_stop", o{"type": "content_block_stop", "index": i}))
		i++
	}
	if t.fail {
		b.WriteString(event("error", o{"type": "error", "error": o{"type": "overloaded_error", "message": "Overloaded"}}))
		return b.String()
	}
	if t.stop == "" {
		return b.String()
	}
	reason := map[model.Stop]string{model.End: "end_turn", model.ForTool: "tool_use", model.Length: "max_tokens", model.Refused: "refusal"}[t.stop]
	b.WriteString(event("message_delta", o{"type": "message_delta", "delta": o{"stop_reason": reason}, "usage": o{"output_tokens": 9}}))
	b.WriteString(event("message_stop", o{"type": "message_stop"}))
	return b.String()
}

func writeOpenAI(t turn) string {
	var b strings.Builder
	choice := func(delta o, finish any) string {
		return event("", o{"id": "c", "object": "chat.completion.chunk", "model": "stub", "choices": []any{o{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	b.WriteString(": comment\n\n" + event("", o{"object": "a.new.kind"}))
	for _, s := range t.text {
		b.WriteString(choice(o{"role": "assistant", "content": s}, nil))
	}
	for i, c := range t.calls {
		half := len(c.Arguments) / 2
		b.WriteString(choice(o{"tool_calls": []any{o{"index": i, "id": c.ID, "type": "function", "function": o{"name": c.Name, "arguments": string(c.Arguments[:half])}}}}, nil))
		b.WriteString(choice(o{"tool_calls": []any{o{"index": i, "function": o{"arguments": string(c.Arguments[half:])}}}}, nil))
	}
	if t.fail {
		b.WriteString(event("", o{"error": o{"message": "overloaded", "code": 529}}))
		return b.String()
	}
	if t.stop == "" {
		return b.String()
	}
	finish := map[model.Stop]string{model.End: "stop", model.ForTool: "tool_calls", model.Length: "length", model.Refused: "content_filter"}[t.stop]
	b.WriteString(choice(o{}, finish))
	b.WriteString(event("", o{"choices": []any{}, "usage": o{"prompt_tokens": 7, "completion_tokens": 9}}) + "data: [DONE]\n\n")
	return b.String()
}

var patience = model.Patience{First: 20 * time.Second, Between: 20 * time.Second}

var dialects = []dialect{
	{"Anthropic", writeAnthropic, func(url string) model.Model { return anthropic.New("secret", "stub", url, patience) }, 529},
	{"OpenAI-compatible", writeOpenAI, func(url string) model.Model {
		return &openai.Client{URL: url + "/v1", Key: "secret", Model: "stub", Patience: patience}
	}, 503},
}

// serve starts a stub that answers with handle.
func serve(t *testing.T, handle http.HandlerFunc) string {
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	return srv.URL
}

var ask = model.Request{System: "be brief", MaxTokens: 100, Messages: []model.Message{{Role: model.User, Text: "hello"}},
	Tools: []model.Tool{{Name: "energy", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`)}}}

func TestStreamsAreReadWholeInEveryDialect(t *testing.T) {
	calls := []model.Call{{ID: "a", Name: "energy", Arguments: json.RawMessage(`{"place":"Büro"}`)}, {ID: "b", Name: "energy", Arguments: json.RawMessage(`{"place":"lobby"}`)}}
	for _, d := range dialects {
		for name, c := range map[string]struct {
			turn turn
			want model.Answer
			err  error
		}{
			"text":           {turn{text: []string{"Grü", "ße"}, stop: model.End}, model.Answer{Text: "Grüße", Stop: model.End}, nil},
			"one tool":       {turn{calls: calls[:1], stop: model.ForTool}, model.Answer{Calls: calls[:1], Stop: model.ForTool}, nil},
			"parallel tools": {turn{text: []string{"Let me look"}, calls: calls, stop: model.ForTool}, model.Answer{Text: "Let me look", Calls: calls, Stop: model.ForTool}, nil},
			"tool but stop":  {turn{calls: calls[:1], stop: model.End}, model.Answer{Calls: calls[:1], Stop: model.ForTool}, nil},
			"refusal":        {turn{text: []string{"No"}, stop: model.Refused}, model.Answer{Text: "No", Stop: model.Refused}, nil},
			"too long":       {turn{text: []string{"abc"}, stop: model.Length}, model.Answer{Text: "abc", Stop: model.Length}, nil},
			"cut":            {turn{text: []string{"abc"}}, model.Answer{Text: "abc"}, model.ErrCut},
			"cut in a call":  {turn{calls: calls[:1]}, model.Answer{}, model.ErrCut},
			"error event":    {turn{text: []string{"abc"}, fail: true}, model.Answer{Text: "abc"}, errAny},
		} {
			t.Run(d.name+"/"+name, func(t *testing.T) {
				url := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					for _, b := range []byte(d.write(c.turn)) { // every line and letter is split somewhere
						w.Write([]byte{b})
						if b == 'r' || b >= 0x80 {
							w.(http.Flusher).Flush()
						}
					}
				})
				got, err := model.Drain(d.make(url).Stream(t.Context(), ask), nil)
				if c.err == errAny && err == nil || c.err != errAny && !errors.Is(err, c.err) {
					t.Fatalf("error is %v, want %v", err, c.err)
				}
				if shown(got) != shown(c.want) {
					t.Errorf("got %s, want %s", shown(got), shown(c.want))
				}
			})
		}
	}
}

func shown(a model.Answer) string {
	text := fmt.Sprintf("%q %q", a.Text, a.Stop)
	for _, c := range a.Calls {
		text += fmt.Sprintf(" %s:%s(%s)", c.ID, c.Name, c.Arguments)
	}
	return text
}

var errAny = errors.New("any")

func TestStatusesAreToldApart(t *testing.T) {
	for _, d := range dialects {
		for status, want := range map[int]error{401: model.ErrRefused, 429: model.ErrBusy, d.overage: model.ErrBusy} {
			tries := 0
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				tries++
				w.Header().Set("Retry-After", "0")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				io.WriteString(w, `{"type":"error","error":{"type":"x","message":"no"}}`)
			})
			_, err := model.Drain(d.make(url).Stream(t.Context(), ask), nil)
			if !errors.Is(err, want) {
				t.Errorf("%s: %d gives %v, want %v", d.name, status, err, want)
			}
			if again := tries > 1; again != (want == model.ErrBusy) {
				t.Errorf("%s: %d was tried %d times", d.name, status, tries)
			}
			if reason := model.Reason(err); strings.Contains(reason, "secret") || strings.Contains(reason, "no\"") {
				t.Errorf("%s: %d is worded %q", d.name, status, reason)
			}
		}
	}
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	for _, d := range dialects {
		tries := 0
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if tries++; tries == 1 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(d.overage)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, d.write(turn{text: []string{"ok"}, stop: model.End}))
		})
		if got, err := model.Drain(d.make(url).Stream(t.Context(), ask), nil); err != nil || got.Text != "ok" {
			t.Errorf("%s: %q %v", d.name, got.Text, err)
		}
	}
}

func TestSilenceEndsAStream(t *testing.T) {
	old := patience
	defer func() { patience = old }()
	for _, d := range dialects {
		for name, begun := range map[string]bool{"from the start": false, "after a word": true} {
			patience = model.Patience{First: 50 * time.Millisecond, Between: 50 * time.Millisecond}
			if begun {
				patience.First = 20 * time.Second
			}
			ended := make(chan struct{})
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				if begun {
					io.WriteString(w, d.write(turn{text: []string{"a"}}))
				}
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				close(ended)
			})
			if _, err := model.Drain(d.make(url).Stream(t.Context(), ask), nil); !errors.Is(err, model.ErrSilent) {
				t.Errorf("%s, silent %s: %v, want ErrSilent", d.name, name, err)
			}
			select {
			case <-ended: // the server was let go
			case <-time.After(20 * time.Second):
				t.Errorf("%s: the request goes on after silence", d.name)
			}
		}
	}
}

func TestAReaderThatIsGoneEndsTheRequest(t *testing.T) {
	for _, d := range dialects {
		ended := make(chan struct{})
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, d.write(turn{text: []string{"a"}}))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(ended)
		})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := model.Drain(d.make(url).Stream(ctx, ask), func(string) { cancel() })
		cancel()
		if err == nil {
			t.Errorf("%s: a cancelled stream ended well", d.name)
		}
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Errorf("%s: the request goes on without a reader", d.name)
		}
	}
}

// What is sent: credential, tools, choice, results of tools.
func TestRequestsAreAsTheProtocolSays(t *testing.T) {
	r := ask
	r.Choose = "energy"
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "a", Name: "energy", Arguments: json.RawMessage(`{"place":"x"}`)}}},
		model.Message{Role: model.User, Results: []model.Result{{ID: "a", Content: "12 kWh"}, {ID: "b", Content: "nothing", Failed: true}}})
	want := map[string][]string{
		"Anthropic": {`"tool_choice":{"name":"energy","type":"tool"}`, `"system":[{"text":"be brief","type":"text"}]`, `"tool_use_id":"a"`, `"is_error":true`, `"input":{"place":"x"}`,
			`"input_schema":{"properties":{"place":{"type":"string"}},"required":["place"],"type":"object"}`, `"stream":true`, `"max_tokens":100`},
		"OpenAI-compatible": {`"tool_choice":{"function":{"name":"energy"},"type":"function"}`, `{"content":"be brief","role":"system"}`, `"tool_call_id":"a"`, `"Error: nothing"`,
			`"arguments":"{\"place\":\"x\"}"`, `"parameters":{"properties":{"place":{"type":"string"}},"required":["place"],"type":"object"}`, `"stream":true`, `"max_tokens":100`},
	}
	for _, d := range dialects {
		var body, credential, path string
		url := serve(t, func(w http.ResponseWriter, req *http.Request) {
			raw, _ := io.ReadAll(req.Body)
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Error(err)
			}
			sorted, _ := json.Marshal(v)
			body, credential, path = string(sorted), req.Header.Get("X-Api-Key")+req.Header.Get("Authorization"), req.URL.Path
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, d.write(turn{text: []string{"ok"}, stop: model.End}))
		})
		if _, err := model.Drain(d.make(url).Stream(t.Context(), r), nil); err != nil {
			t.Fatal(err)
		}
		for _, part := range want[d.name] {
			if !strings.Contains(body, part) {
				t.Errorf("%s: %s is missing in %s", d.name, part, body)
			}
		}
		if !strings.HasSuffix(credential, "secret") || path != map[string]string{"Anthropic": "/v1/messages", "OpenAI-compatible": "/v1/chat/completions"}[d.name] {
			t.Errorf("%s: credential %q, path %q", d.name, credential, path)
		}
	}
}

// Local servers leave out the index, end a call with "stop", or send it whole in one chunk.
func TestServersThatBendTheProtocol(t *testing.T) {
	for name, body := range map[string]string{
		"no index, stop": `data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"energy","arguments":"{\"place\":\"x\"}"}}]},"finish_reason":"stop"}]}` + "\n\n",
		"no index, no ID, in pieces": `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"energy","arguments":"{\"place\""}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":\"x\"}"}}]}}]}` + "\n\n" + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
		got, err := model.Drain((&openai.Client{URL: url, Model: "stub"}).Stream(t.Context(), ask), nil)
		if err != nil || got.Stop != model.ForTool || len(got.Calls) != 1 || got.Calls[0].ID == "" || string(got.Calls[0].Arguments) != `{"place":"x"}` {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}
