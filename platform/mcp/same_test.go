package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant"
	"svc.internal/controller/platform/sitetest"
)

// A question has one answer, through whichever door it is asked.
func TestTheSameQuestionGetsTheSameFactsThroughEveryDoor(t *testing.T) {
	b := sitetest.New()
	e := assistant.New(assistant.Config{Sites: b, Act: b, History: sitetest.NewHistory(), Now: func() time.Time { return sitetest.Now }, Log: slog.New(slog.DiscardHandler)})
	ctx := context.Background()
	who := platform.Identity{User: platform.User{ID: "ann"}}
	through := func(tool, member, text string) platform.Reply {
		t.Helper()
		found, ok := find(tool)
		if !ok {
			t.Fatalf("there is no tool %s", tool)
		}
		args, err := readArguments(json.RawMessage(`{` + strconv.Quote(member) + `:` + strconv.Quote(text) + `}`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := found.run(ctx, e, who, args, nil)
		if err != nil {
			t.Fatalf("%s %q: %v", tool, text, err)
		}
		return r
	}
	for _, text := range []string{
		"which lights are on except in the lobby", "how much energy did the ground floor use yesterday", "energy yesterday without the workshop", "which rooms have lights but no shades",
		"is the ground floor drawing more than 1 kW", "which devices are offline", "any faults?", "how warm is it in the lobby", "any active fire alarms?", "power per square metre on the ground floor",
		"welche Jalousien sind offen", "lights on in the canteen", "turn off the lobby lights", "what is the trend on the ground floor", "which lights have been on for more than 3 hours",
	} {
		chat, err := e.Ask(ctx, platform.Inquiry{Owner: "bob", Message: text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, door := range []struct{ tool, member string }{{"chat", "message"}, {"query", "query"}} {
			if got := through(door.tool, door.member, text); got.Text != chat.Text || got.Agent != chat.Agent {
				t.Errorf("%q: %s says %s\nchat says %s", text, door.tool, got.Text, chat.Text)
			}
		}
	}
}
