package openai

import (
	"encoding/json"

	"svc.internal/controller/platform/assistant/model"
)

// request is the body of a POST.
type request struct {
	Model         string        `json:"model"`
	Messages      []message     `json:"messages"`
	Format        format        `json:"response_format"`
	MaxTokens     int           `json:"max_tokens,omitempty"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// format binds the answer to a schema. Servers that have it hold the model to it letter by letter; a call of a tool that
// has to be made, which would do the same, is ignored by some of them (Ollama).
type format struct {
	Type   string `json:"type"`
	Schema schema `json:"json_schema"`
}

type schema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Strict      bool            `json:"strict"`
	Schema      json.RawMessage `json:"schema"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

func (c *Client) pack(r model.Request) request {
	return request{Model: c.Model, MaxTokens: r.MaxTokens, Stream: true, StreamOptions: streamOptions{true},
		Messages: []message{{"system", r.System}, {"user", r.Text}},
		Format:   format{"json_schema", schema{r.Form.Name, r.Form.Description, true, r.Form.Schema}}}
}
