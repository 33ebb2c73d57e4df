package mcp

import (
	"bytes"
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
	b := sitetest.New().Remember()
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
		// every operation on every topic that has it
		"how many lights are on", "which room is the brightest", "what is the mean level on the upper floor", "is Alps brighter than the lobby", "how much brighter is Alps than the lobby", "what share of the lights is on",
		"which lights are on by floor", "since when are the lobby lights on", "who switched the lobby lights on", "why are the canteen lights off", "which rooms have been dark for more than an hour", "which lights are dimmable",
		"who opened Lobby shade 1", "since when are the canteen shades closed", "how far are the blinds open on average", "which shade is lowest", "colour temperature of Alps", "which lights are cooler than 3200 K",
		"which zone used the most last week", "compare this week with last week", "by how many kWh did the offices exceed the workshop on Monday", "sum of the workshop and Alps on Monday",
		"energy per square metre on the ground floor yesterday", "consumption by day last week", "on which days did we use more than 60 kWh last week", "is the consumption usual", "why is consumption so high today",
		"what share of the building's energy did the offices use on Monday", "what did yesterday cost at 31 cents a kWh", "how much CO2 did we cause yesterday", "peak power yesterday", "power by meter", "watts per light in the lobby",
		"which devices were offline last week", "since when is Lobby 1 online", "which devices have been offline for more than a day", "were there faults yesterday", "how many zones are there", "rooms with more than 4 lights", "which zones have no meter",
		"how big is the building", "how can we save energy", "report on the lobby", "where does your data come from", "which controllers are online", "is anybody in the lobby", "which scenes are there", "how much will we use tomorrow",
		"who was in the lobby", "Verbrauch nach Etagen gestern", "wer hat das Licht in der Lobby eingeschaltet", "seit wann sind die Rollos in der Canteen zu", "was kannst du",
	} {
		chat, err := e.Ask(ctx, platform.Inquiry{Owner: "bob", Message: text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, door := range []struct{ tool, member string }{{"chat", "message"}, {"query", "query"}} {
			if got := through(door.tool, door.member, text); got.Text != chat.Text || got.Agent != chat.Agent || got.Data != nil && !bytes.Equal(got.Data, chat.Data) {
				t.Errorf("%q: %s says %s with %s\nchat says %s with %s", text, door.tool, got.Text, got.Data, chat.Text, chat.Data)
			}
		}
	}
}
