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

// Stream implements [model.Model]. The form is the input of a tool that the model has to call; what else it says is dropped.
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
		read, written, said := int64(0), int64(0), 0
		reason, form := sdk.StopReason(""), int64(-1)
		for stream.Next() {
			heard()
			event := stream.Current()
			if said += len(event.RawJSON()); said > answerMost {
				yield(model.Event{}, model.ErrEndless)
				return
			}
			switch event.Type {
			case "message_start":
				read = event.Message.Usage.InputTokens
			case "message_delta":
				reason, written = event.Delta.StopReason, event.Usage.OutputTokens
			case "content_block_start":
				if event.ContentBlock.Type != "tool_use" {
					break
				}
				if event.ContentBlock.Name != r.Form.Name || form >= 0 {
					yield(model.Event{}, fmt.Errorf("%w: it calls %.100q", model.ErrUseless, event.ContentBlock.Name))
					return
				}
				form = event.Index
			case "content_block_delta":
				if event.Index == form && event.Delta.PartialJSON != "" && !yield(model.Event{Text: event.Delta.PartialJSON}, nil) {
					return
				}
			}
		}
		if err := stream.Err(); err != nil {
			yield(model.Event{}, model.Because(ctx, told(err)))
			return
		}
		// The library has no error for a stream that was cut.
		if reason == "" {
			yield(model.Event{}, model.ErrCut)
			return
		}
		_ = yield(model.Event{Tokens: int(read + written)}, nil) && yield(model.Event{Stop: stopped(reason)}, nil)
	}
}

// answerMost bounds all events of an answer, in bytes: each letter of a form may come in one.
const answerMost = 64 * model.MaxAnswer

func stopped(reason sdk.StopReason) model.Stop {
	switch reason {
	case sdk.StopReasonRefusal:
		return model.Refused
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return model.Length
	}
	return model.End
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
	p.System = []sdk.TextBlockParam{{Text: r.System}}
	p.Messages = []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(r.Text))}
	var schema struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(r.Form.Schema, &schema); err != nil {
		return p, fmt.Errorf("schema of form %s: %w", r.Form.Name, err)
	}
	p.Tools = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{Name: r.Form.Name, Description: sdk.String(r.Form.Description),
		InputSchema: sdk.ToolInputSchemaParam{Properties: schema.Properties, Required: schema.Required, ExtraFields: map[string]any{"additionalProperties": false}}}}}
	p.ToolChoice = sdk.ToolChoiceParamOfTool(r.Form.Name)
	return p, nil
}
