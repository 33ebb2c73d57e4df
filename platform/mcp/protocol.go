package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.internal/controller/platform"
)

// protocol serves the Model Context Protocol without sessions: any instance can answer any request, and all versions of
// the SDK are spoken. The SDK has no log: it would tell three lines of every request, and what callers do wrong as our faults.
func protocol(asker platform.Asker, version string, log *slog.Logger) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "building-platform", Title: "Building platform", Version: version}, &mcp.ServerOptions{
		Instructions: "Ask about a building's energy, lights, shades, faults and devices. Every answer names the source and age of its readings; what is not measured is said so.",
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	for _, t := range catalogue {
		server.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return serve(ctx, asker, t, req, log)
		})
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true,
		// A reverse proxy on this machine sends another Host; the room checks Origin itself.
		DisableLocalhostProtection: true,
	})
}

// serve runs a tool. What the caller did wrong is a failed result, which a model can read and mend.
func serve(ctx context.Context, asker platform.Asker, t tool, req *mcp.CallToolRequest, log *slog.Logger) (*mcp.CallToolResult, error) {
	args, err := readArguments(req.Params.Arguments)
	if err != nil {
		return failed(err.Error()), nil
	}
	got, err := t.run(ctx, asker, platform.IdentityOf(ctx), args, progress(ctx, req))
	switch {
	case errors.Is(err, platform.ErrInvalid):
		return failed(err.Error()), nil
	case err != nil:
		log.Error("run a tool", "tool", t.Name, "error", err)
		return nil, errors.New("internal error")
	}
	if !fits(ctx, len(got.Text)+2*len(got.Data)) {
		return failed(fmt.Sprintf("the answers to one request would be larger than %d MB: ask for less, or one at a time", answerMost>>20)), nil
	}
	out := &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: got.Text}},
		Meta:    mcp.Meta{"agent": got.Agent, "statusUpdates": got.Updates, "sessionId": got.Session},
	}
	if got.Data != nil {
		out.StructuredContent = got.Data
		out.Content = append(out.Content, &mcp.TextContent{Text: string(got.Data)})
	}
	return out, nil
}

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// progress passes status updates on to a client that asked for them.
func progress(ctx context.Context, req *mcp.CallToolRequest) func(platform.Progress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	n := 0.0
	return func(p platform.Progress) {
		if p.Status == nil {
			return
		}
		n++
		// A client that is gone is noticed by ctx.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: p.Status.Message})
	}
}
