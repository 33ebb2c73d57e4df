package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompt is a task that people give often. Its argument is a site, and what else the task wants.
type prompt struct {
	name, title, description string
	also                     []*mcp.PromptArgument
	text                     string // with the place of the site, and of the further argument
	without                  string // what stands for the further argument if it is not given
}

// prompts are the three usual tasks.
var prompts = []prompt{
	{name: "morning_round", title: "Morning round", description: "What is wrong in the building, and what changed since yesterday evening.",
		text: "Make a morning round of %[1]s. Call faults with from at 6 pm yesterday and to now, in the site's local time, then shades and lights with state unknown. Tell first what does not work and since when, then what came back by itself, by floor. " +
			"Say what is not known as not known. Do not order anything."},
	{name: "energy_review", title: "Energy review", description: "How much was used, where it went, and what could be saved.",
		also: []*mcp.PromptArgument{{Name: "days", Description: "How many days to look back; 7 without it"}}, without: "7",
		text: "Review the energy of %[1]s over the last %[2]s days. Call energy by day and by meter, and optimize with target energy_usage. Tell the sum, the highest and the lowest day, which meter measured most, and the first three proposals with their assumptions. " +
			"Name what no meter covers. Do not estimate anything yourself."},
	{name: "turn_down_empty_rooms", title: "Turn down empty rooms", description: "Finds the brightest of the rooms that somebody says are empty, and sets them lower after a yes.",
		also: []*mcp.PromptArgument{{Name: "empty", Description: "Which rooms are empty; the building does not measure it"}}, without: "those that I name when you ask me",
		text: "In %[1]s these rooms are empty: %[2]s. Occupancy is not measured, so take my word and nobody else's for it. Call capabilities, then places sorted by brightest; of the empty ones take the brightest that is lit. Call order to dim it to 10 percent, show me the preview, " +
			"and confirm only after I say yes. Then tell what became of it, with the exceptions by name."},
}

// add announces a prompt.
func (p prompt) add(to *mcp.Server) {
	args := append([]*mcp.PromptArgument{{Name: "site", Description: "ID or name of the site; without it the only one"}}, p.also...)
	to.AddPrompt(&mcp.Prompt{Name: p.name, Title: p.title, Description: p.description, Arguments: args}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		site, further := "the building", p.without
		if s := req.Params.Arguments["site"]; s != "" {
			site = fmt.Sprintf("the site %.100q", s)
		}
		if len(p.also) > 0 {
			if s := req.Params.Arguments[p.also[0].Name]; s != "" {
				further = fmt.Sprintf("%.500s", s)
			}
		}
		text := fmt.Sprintf(p.text, site, further)
		return &mcp.GetPromptResult{Description: p.description, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
	})
}
