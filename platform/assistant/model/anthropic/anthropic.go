// Package anthropic speaks with Anthropic's models by the vendor's library. It is a package of its own so that only the
// program that uses it is built with the library.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"svc.internal/controller/platform/assistant/model"
)

// Client of the Messages API.
type Client struct {
	client   sdk.Client
	model    string
	patience model.Patience
}

// New makes a client; url is another server's base, empty for the vendor's.
func New(key, name, url string, patience model.Patience) *Client {
	// Nothing but what is given here decides: no variable of the environment that the library knows.
	opts := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithAPIKey(key), option.WithMaxRetries(2)}
	if url != "" {
		opts = append(opts, option.WithBaseURL(url))
	}
	return &Client{sdk.NewClient(opts...), name, patience}
}

// Name implements [model.Model].
func (c *Client) Name() string { return c.model }

// Stream implements [model.Model].
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		params, err := c.pack(r)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		ctx, heard, stop := c.patience.Watch(ctx)
		defer stop()
		stream := c.client.Messages.NewStreaming(ctx, params)
		defer stream.Close()
		var whole sdk.Message
		for stream.Next() {
			heard()
			event := stream.Current()
			if err := whole.Accumulate(event); err != nil {
				yield(model.Event{}, fmt.Errorf("read an event of the language model: %w", err))
				return
			}
			if event.Type == "content_block_delta" && event.Delta.Type == "text_delta" && event.Delta.Text != "" {
				if !yield(model.Event{Text: event.Delta.Text}, nil) {
					return
				}
			}
		}
		if err := stream.Err(); err != nil {
			yield(model.Event{}, model.Because(ctx, told(err)))
			return
		}
		finish(whole, yield)
	}
}

// finish tells the calls, what it cost, and why the model ended. The library has no error for a stream that was cut.
func finish(whole sdk.Message, yield func(model.Event, error) bool) {
	if whole.StopReason == "" {
		yield(model.Event{}, model.ErrCut)
		return
	}
	calls := 0
	for _, block := range whole.Content {
		if block.Type != "tool_use" || whole.StopReason == sdk.StopReasonMaxTokens {
			continue
		}
		calls++
		arguments := json.RawMessage(block.Input)
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		if !yield(model.Event{Call: &model.Call{ID: block.ID, Name: block.Name, Arguments: arguments}}, nil) {
			return
		}
	}
	stop := model.End
	switch {
	case whole.StopReason == sdk.StopReasonRefusal:
		stop = model.Refused
	case whole.StopReason == sdk.StopReasonMaxTokens, whole.StopReason == sdk.StopReasonModelContextWindowExceeded:
		stop = model.Length
	case calls > 0:
		stop = model.ForTool
	}
	yield(model.Event{Stop: stop}, nil)
}

// told makes an error of ours of the library's.
func told(err error) error {
	var failed *sdk.Error
	if errors.As(err, &failed) && failed.StatusCode != 0 {
		return &model.HTTPError{Status: failed.StatusCode, Body: failed.RawJSON()}
	}
	return fmt.Errorf("ask language model: %w", err)
}

func (c *Client) pack(r model.Request) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: sdk.Model(c.model), MaxTokens: int64(max(r.MaxTokens, 1))}
	if r.System != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	for _, m := range r.Messages {
		var blocks []sdk.ContentBlockParamUnion
		for _, res := range m.Results {
			blocks = append(blocks, sdk.NewToolResultBlock(res.ID, res.Content, res.Failed))
		}
		if m.Text != "" {
			blocks = append(blocks, sdk.NewTextBlock(m.Text))
		}
		for _, call := range m.Calls {
			blocks = append(blocks, sdk.NewToolUseBlock(call.ID, call.Arguments, call.Name))
		}
		if m.Role == model.Assistant {
			p.Messages = append(p.Messages, sdk.NewAssistantMessage(blocks...))
		} else {
			p.Messages = append(p.Messages, sdk.NewUserMessage(blocks...))
		}
	}
	for _, t := range r.Tools {
		var schema struct {
			Properties any      `json:"properties"`
			Required   []string `json:"required"`
		}
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return p, fmt.Errorf("schema of tool %s: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{Name: t.Name, Description: sdk.String(t.Description),
			InputSchema: sdk.ToolInputSchemaParam{Properties: schema.Properties, Required: schema.Required}}})
	}
	switch {
	case r.Choose == "" || len(r.Tools) == 0:
	case r.Choose == model.NoTool:
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	default:
		p.ToolChoice = sdk.ToolChoiceParamOfTool(r.Choose)
	}
	return p, nil
}
