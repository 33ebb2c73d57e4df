package openai

import (
	"encoding/json"

	"svc.internal/controller/platform/assistant/model"
)

// request is the body of a POST.
type request struct {
	Model      string    `json:"model"`
	Messages   []message `json:"messages"`
	Tools      []tool    `json:"tools,omitempty"`
	ToolChoice any       `json:"tool_choice,omitempty"`
	MaxTokens  int       `json:"max_tokens,omitempty"`
	Stream     bool      `json:"stream"`
}

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string     `json:"type"`
	Function definition `json:"function"`
}

type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

func (c *Client) pack(r model.Request) request {
	out := request{Model: c.Model, MaxTokens: r.MaxTokens, Stream: true}
	if r.System != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: r.System})
	}
	for _, m := range r.Messages {
		for _, res := range m.Results {
			text := res.Content
			if res.Failed {
				text = "Error: " + text
			}
			out.Messages = append(out.Messages, message{Role: "tool", Content: text, ToolCallID: res.ID})
		}
		if m.Text == "" && len(m.Calls) == 0 {
			continue
		}
		one := message{Role: string(m.Role), Content: m.Text}
		for _, c := range m.Calls {
			one.ToolCalls = append(one.ToolCalls, toolCall{c.ID, "function", function{c.Name, string(c.Arguments)}})
		}
		out.Messages = append(out.Messages, one)
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{"function", definition{t.Name, t.Description, t.Schema}})
	}
	switch {
	case r.Choose == "" || len(r.Tools) == 0:
	case r.Choose == model.NoTool:
		out.ToolChoice = "none"
	default:
		out.ToolChoice = map[string]any{"type": "function", "function": map[string]string{"name": r.Choose}}
	}
	return out
}
