package model_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/platform/assistant/model"
	"svc.internal/controller/platform/assistant/model/anthropic"
	"svc.internal/controller/platform/assistant/model/openai"
)

// A turn is what the stub's model says, whatever the protocol.
type turn struct {
	prose string     // what it says besides
	form  []string   // what it fills in, in pieces
	tool  string     // that it calls; "": the one it has to
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
	if t.prose != "" {
		b.WriteString(event("content_block_start", o{"type": "content_block_start", "index": 0, "content_block": o{"type": "text", "text": ""}}))
		b.WriteString(event("content_block_delta", o{"type": "content_block_delta", "index": 0, "delta": o{"type": "text_delta", "text": t.prose}}))
		b.WriteString(event("content_block_stop", o{"type": "content_block_stop", "index": 0}))
	}
	if len(t.form) > 0 {
		b.WriteString(event("content_block_start", o{"type": "content_block_start", "index": 1, "content_block": o{"type": "tool_use", "id": "t", "name": cmp.Or(t.tool, "understood"), "input": o{}}}))
		for _, s := range t.form {
			b.WriteString(event("content_block_delta", o{"type": "content_block_delta", "index": 1, "delta": o{"type": "input_json_delta", "partial_json": s}}))
		}
		b.WriteString(event("content_block_stop", o{"type": "content_block_stop", "index": 1}))
	}
	if t.fail {
		b.WriteString(event("error", o{"type": "error", "error": o{"type": "overloaded_error", "message": "Overloaded"}}))
		return b.String()
	}
	if t.stop == "" {
		return b.String()
	}
	reason := map[model.Stop]string{model.End: "tool_use", model.Length: "max_tokens", model.Refused: "refusal"}[t.stop]
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
	if t.tool != "" {
		b.WriteString(choice(o{"tool_calls": []any{o{"index": 0, "id": "t", "type": "function", "function": o{"name": t.tool, "arguments": "{}"}}}}, nil))
	}
	for _, s := range t.form {
		b.WriteString(choice(o{"role": "assistant", "content": s}, nil))
	}
	if t.fail {
		b.WriteString(event("", o{"error": o{"message": "overloaded", "code": 529}}))
		return b.String()
	}
	if t.stop == "" {
		return b.String()
	}
	finish := map[model.Stop]string{model.End: "stop", model.Length: "length", model.Refused: "content_filter"}[t.stop]
	b.WriteString(choice(o{}, finish))
	b.WriteString(event("", o{"choices": []any{}, "usage": o{"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16}}) + "data: [DONE]\n\n")
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

var ask = model.Request{System: "be brief", MaxTokens: 100, Text: "hello", Form: model.Form{Name: "understood", Description: "what was said",
	Schema: []byte(`{"type":"object","additionalProperties":false,"properties":{"place":{"type":"string"}},"required":["place"]}`)}}

func TestFormsAreReadWholeInEveryDialect(t *testing.T) {
	form := []string{`{"place":`, `"Bü`, `ro"}`}
	for _, d := range dialects {
		for name, c := range map[string]struct {
			turn turn
			want string
			err  error
		}{
			"whole":              {turn{form: form, stop: model.End}, `{"place":"Büro"}`, nil},
			"refusal":            {turn{prose: "No", stop: model.Refused}, "", model.ErrDenied},
			"too long":           {turn{form: form[:2], stop: model.Length}, "", model.ErrEndless},
			"cut":                {turn{form: form[:2]}, "", model.ErrCut},
			"error event":        {turn{form: form[:1], fail: true}, "", errAny},
			"another tool":       {turn{form: form, tool: "switch_everything_off", stop: model.End}, "", model.ErrUseless},
			"nothing":            {turn{stop: model.End}, "", nil},
			"endless":            {turn{form: slices.Repeat([]string{strings.Repeat("9", 1000)}, model.MaxAnswer/1000+1), stop: model.End}, "", model.ErrEndless},
			"endless besides it": {turn{prose: strings.Repeat("and ", 32*model.MaxAnswer), form: form, stop: model.End}, "", model.ErrEndless},
		} {
			if c.turn.prose != "" && d.name != "Anthropic" { // elsewhere all that is said is the form
				c.turn.form = []string{c.turn.prose}
			}
			t.Run(d.name+"/"+name, func(t *testing.T) {
				url := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					all := []byte(d.write(c.turn))
					if len(all) > 10_000 {
						w.Write(all)
						return
					}
					for _, b := range all { // every line and letter is split somewhere
						w.Write([]byte{b})
						if b == 'r' || b >= 0x80 {
							w.(http.Flusher).Flush()
						}
					}
				})
				got, err := model.Drain(d.make(url).Stream(t.Context(), ask))
				if c.err == errAny && err == nil || c.err != errAny && !errors.Is(err, c.err) {
					t.Fatalf("error is %v, want %v", err, c.err)
				}
				if string(got) != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		}
	}
}

// What a request cost is what the server counts, told once; of one that does not count it is reckoned.
func TestWhatItCostIsTold(t *testing.T) {
	for _, d := range dialects {
		for name, counts := range map[string]bool{"counted": true, "not counted": false} {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				body := d.write(turn{form: []string{`{"place":"x"}`}, stop: model.End})
				if !counts {
					body = strings.NewReplacer(`"total_tokens":16`, `"total_tokens":0`, `"input_tokens":7`, `"input_tokens":0`, `"output_tokens":9`, `"output_tokens":0`).Replace(body)
				}
				io.WriteString(w, body)
			})
			var cost []int
			m := model.Metered{Of: d.make(url), Take: func(context.Context) error { return nil }, Cost: func(_ context.Context, tokens int) { cost = append(cost, tokens) }}
			if _, err := model.Drain(m.Stream(t.Context(), ask)); err != nil {
				t.Fatal(err)
			}
			want := 16
			if !counts {
				want = (len(ask.System) + len(ask.Text) + len(ask.Form.Description) + len(ask.Form.Schema) + len(`{"place":"x"}`) + 3) / 4
			}
			if len(cost) != 1 || cost[0] != want {
				t.Errorf("%s, %s: cost %v, want %d", d.name, name, cost, want)
			}
		}
	}
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
			_, err := model.Drain(d.make(url).Stream(t.Context(), ask))
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
			io.WriteString(w, d.write(turn{form: []string{"ok"}, stop: model.End}))
		})
		if got, err := model.Drain(d.make(url).Stream(t.Context(), ask)); err != nil || string(got) != "ok" {
			t.Errorf("%s: %q %v", d.name, got, err)
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
			var asked atomic.Bool
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Store(true)
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				if begun {
					io.WriteString(w, d.write(turn{form: []string{"a"}}))
				}
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				close(ended)
			})
			if _, err := model.Drain(d.make(url).Stream(t.Context(), ask)); !errors.Is(err, model.ErrSilent) {
				t.Errorf("%s, silent %s: %v, want ErrSilent", d.name, name, err)
			}
			select {
			case <-ended: // the server was let go
			case <-time.After(20 * time.Second):
				if asked.Load() { // else it was given up before it got there
					t.Errorf("%s: the request goes on after silence", d.name)
				}
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
			io.WriteString(w, d.write(turn{form: []string{"a"}}))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(ended)
		})
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		for e, failed := range d.make(url).Stream(ctx, ask) {
			if e.Text != "" {
				cancel()
			}
			err = failed
		}
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

// What is sent: credential, form, and that it has to be filled in.
func TestRequestsAreAsTheProtocolSays(t *testing.T) {
	want := map[string][]string{
		"Anthropic": {`"tool_choice":{"name":"understood","type":"tool"}`, `"system":[{"text":"be brief","type":"text"}]`, `"messages":[{"content":[{"text":"hello","type":"text"}],"role":"user"}]`,
			`"input_schema":{"additionalProperties":false,"properties":{"place":{"type":"string"}},"required":["place"],"type":"object"}`, `"stream":true`, `"max_tokens":100`},
		"OpenAI-compatible": {`"response_format":{"json_schema":{"description":"what was said","name":"understood","schema":{"additionalProperties":false,"properties":{"place":{"type":"string"}},"required":["place"],"type":"object"},"strict":true},"type":"json_schema"}`,
			`"messages":[{"content":"be brief","role":"system"},{"content":"hello","role":"user"}]`, `"stream":true`, `"max_tokens":100`, `"stream_options":{"include_usage":true}`},
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
			io.WriteString(w, d.write(turn{form: []string{"ok"}, stop: model.End}))
		})
		if _, err := model.Drain(d.make(url).Stream(t.Context(), ask)); err != nil {
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

// Ollama answers at /v1 with chunks of its own: a role in each, an empty one with the reason, the usage in another one, thinking
// beside the content, and no credential asked for.
func TestOllamaIsUnderstood(t *testing.T) {
	const stream = `data: {"id":"chatcmpl-12","object":"chat.completion.chunk","created":1764000000,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"The person wants"},"finish_reason":null}]}

data: {"id":"chatcmpl-12","object":"chat.completion.chunk","created":1764000001,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"{\"place\":"},"finish_reason":null}]}

data: {"id":"chatcmpl-12","object":"chat.completion.chunk","created":1764000001,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"\"x\"}"},"finish_reason":null}]}

data: {"id":"chatcmpl-12","object":"chat.completion.chunk","created":1764000001,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}

data: {"id":"chatcmpl-12","object":"chat.completion.chunk","created":1764000001,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[],"usage":{"prompt_tokens":412,"completion_tokens":96,"total_tokens":508}}

data: [DONE]

`
	var credential string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		credential = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, stream)
	})
	tokens := 0
	m := model.Metered{Of: &openai.Client{URL: url + "/v1/", Model: "qwen3:8b"}, Take: func(context.Context) error { return nil }, Cost: func(_ context.Context, n int) { tokens = n }}
	got, err := model.Drain(m.Stream(t.Context(), ask))
	if err != nil || string(got) != `{"place":"x"}` || tokens != 508 || credential != "" {
		t.Errorf("%s %v, %d tokens, credential %q", got, err, tokens, credential)
	}
}
