package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// Command is something that is wanted of lights or shades.
type Command struct {
	Kind      string  `json:"kind" enum:"light-on,light-off,light-level,light-kelvin,light-rgbw,shade-open,shade-close,shade-stop,shade-move-to"`
	Target    Target  `json:"target"`
	Channel   int     `json:"channel,omitempty" doc:"Lights: 0 all channels of each node, else that one."`
	Level     *int    `json:"level,omitempty" doc:"Percent, for light-level; with light-rgbw it may be left out, to keep the present one."`
	Kelvin    *int    `json:"kelvin,omitempty"`
	RGBW      *Colour `json:"rgbw,omitempty"`
	Position  *int    `json:"position,omitempty" doc:"Percent open."`
	Why       string  `json:"why,omitempty" doc:"For the ledger, up to 200 characters."`
	ExpiresMs int     `json:"expiresMs,omitempty" doc:"After how long the command is worth nothing any more; 0: 2 s plus the bus time of its fan-out, at most 10 s."`
}

// Target says whom a command addresses.
type Target struct {
	Scope string       `json:"scope" enum:"all,cluster,node,shade"`
	ID    appliance.ID `json:"id,omitempty"`
}

// Entry of the ledger: a command and what became of it.
type Entry struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`
	Target     Target     `json:"target"`
	Channel    int        `json:"channel,omitempty"`
	Level      *int       `json:"level,omitempty"`
	Kelvin     *int       `json:"kelvin,omitempty"`
	RGBW       *Colour    `json:"rgbw,omitempty"`
	Position   *int       `json:"position,omitempty"`
	Who        string     `json:"who"`
	Via        string     `json:"via"`
	Why        string     `json:"why"`
	AcceptedAt *time.Time `json:"acceptedAt"`
	DoneAt     *time.Time `json:"doneAt"`
	OK         bool       `json:"ok" doc:"Every addressed member that is online has it."`
	Error      string     `json:"error,omitempty" doc:"How many members failed, and the first of them."`
	Members    []Member   `json:"members"`
}

// Member is what became of a command at one thing.
type Member struct {
	Node           appliance.ID `json:"node,omitempty"`
	Channel        int          `json:"channel,omitempty"`
	Shade          appliance.ID `json:"shade,omitempty"`
	Stage          string       `json:"stage" enum:"accepted,sent,acknowledged,observed,unverifiable,failed,offline"`
	SentAt         *time.Time   `json:"sentAt,omitempty"`
	AcknowledgedAt *time.Time   `json:"acknowledgedAt,omitempty"`
	ObservedAt     *time.Time   `json:"observedAt,omitempty"`
	Error          string       `json:"error,omitempty"`
}

func entryOf(e appliance.Entry) Entry {
	cmd := e.Command
	out := Entry{
		ID: e.ID, Kind: cmd.Kind.Word(), Target: targetOf(cmd), Channel: cmd.Channel,
		Who: cmd.Origin.Who, Via: cmd.Origin.Via, Why: cmd.Origin.Why,
		AcceptedAt: stampOf(e.AcceptedAt), DoneAt: stampOf(e.DoneAt), OK: e.OK(), Error: e.Err,
		Members: make([]Member, len(e.Members)),
	}
	switch cmd.Kind {
	case appliance.LightLevel:
		out.Level = new(int(cmd.Level))
	case appliance.LightKelvin:
		out.Kelvin = new(int(cmd.Kelvin))
	case appliance.LightRGBW:
		out.RGBW = new(colourOf(cmd.RGBW))
		if !cmd.KeepLevel {
			out.Level = new(int(cmd.Level))
		}
	case appliance.ShadeMoveTo:
		out.Position = new(int(cmd.Position))
	}
	for i, m := range e.Members {
		out.Members[i] = Member{
			Node: m.Ref.Node, Channel: m.Ref.Channel, Shade: m.Ref.Shade, Stage: m.Stage.Word(),
			SentAt: stampOf(m.SentAt), AcknowledgedAt: stampOf(m.AcknowledgedAt), ObservedAt: stampOf(m.ObservedAt), Error: m.Err,
		}
		if m.Offline {
			out.Members[i].Stage = "offline"
		}
	}
	return out
}

func targetOf(cmd appliance.Command) Target {
	switch t := cmd.Target; {
	case t.Scope == appliance.InCluster:
		return Target{"cluster", t.ID}
	case t.Scope == appliance.One && cmd.Kind.IsShade():
		return Target{"shade", t.ID}
	case t.Scope == appliance.One:
		return Target{"node", t.ID}
	}
	return Target{Scope: "all"}
}

// command is what a body asks for.
func (in Command) command() (appliance.Command, error) {
	cmd := appliance.Command{Channel: in.Channel}
	var ok bool
	if cmd.Kind, ok = appliance.KindOf(in.Kind); !ok {
		return cmd, noKind("command", in.Kind, kindsOfCommands()...)
	}
	shade := cmd.Kind.IsShade()
	switch in.Target.Scope {
	case "all":
		cmd.Target.Scope = appliance.All
	case "cluster":
		cmd.Target = appliance.Target{Scope: appliance.InCluster, ID: in.Target.ID}
	case "node", "shade":
		if shade != (in.Target.Scope == "shade") {
			return cmd, meaningless("/target/scope", in.Kind+" is not for a "+in.Target.Scope)
		}
		cmd.Target = appliance.Target{Scope: appliance.One, ID: in.Target.ID}
	default:
		return cmd, meaningless("/target/scope", "want all, cluster, node or shade")
	}
	if cmd.Target.Scope != appliance.All && in.Target.ID < 1 {
		return cmd, meaningless("/target/id", "want the ID of a "+in.Target.Scope)
	}
	if in.Channel < 0 || in.Channel > 0 && shade {
		return cmd, meaningless("/channel", "want 0 (all channels) or a channel number from 1, for lights")
	}
	if len(in.Why) > 200 {
		return cmd, meaningless("/why", "want up to 200 characters")
	}
	if in.ExpiresMs < 0 || in.ExpiresMs > 10_000 {
		return cmd, meaningless("/expiresMs", "want 0 to 10000")
	}
	if in.ExpiresMs > 0 {
		cmd.Expiry = time.Now().Add(time.Duration(in.ExpiresMs) * time.Millisecond)
	}
	return cmd, in.values(&cmd)
}

// kindsOfCommands are the words for all that can be commanded.
func kindsOfCommands() (words []string) {
	for k := appliance.LightOn; k.Word() != ""; k++ {
		words = append(words, k.Word())
	}
	return words
}

// values takes over what the kind of command needs.
func (in Command) values(cmd *appliance.Command) error {
	percent := func(pointer string, v *int) (int, error) {
		if v == nil || *v < 0 || *v > 100 {
			return 0, meaningless(pointer, "want 0 to 100")
		}
		return *v, nil
	}
	switch cmd.Kind {
	case appliance.LightLevel:
		level, err := percent("/level", in.Level)
		cmd.Level = appliance.Level(level)
		if level == 0 {
			cmd.Kind = appliance.LightOff
		}
		return err
	case appliance.LightKelvin:
		if in.Kelvin == nil || *in.Kelvin < 1000 || *in.Kelvin > 20_000 {
			return meaningless("/kelvin", "want 1000 to 20000; each fixture takes the nearest that it can do")
		}
		cmd.Kelvin = appliance.Kelvin(*in.Kelvin)
	case appliance.LightRGBW:
		if in.RGBW == nil {
			return meaningless("/rgbw", "is missing")
		}
		cmd.RGBW, cmd.KeepLevel = appliance.RGBW(*in.RGBW), in.Level == nil
		if in.Level != nil {
			level, err := percent("/level", in.Level)
			cmd.Level = appliance.Level(level)
			return err
		}
	case appliance.ShadeMoveTo:
		position, err := percent("/position", in.Position)
		cmd.Position = appliance.Position(position)
		return err
	}
	return nil
}

// do carries out a command and answers with its entry in the ledger: 200 whatever
// became of it, with ok telling whether it succeeded.
func (a *API) do(c echo.Context) error {
	var in Command
	if err := read(c, &in); err != nil {
		return err
	}
	cmd, err := in.command()
	if err != nil {
		return err
	}
	cmd.Origin = callerOf(c).origin(in.Why)
	// Whoever hangs up does not undo what was asked for.
	entry, err := a.Core.Do(context.WithoutCancel(c.Request().Context()), cmd)
	if entry.ID != "" {
		c.Response().Header().Set("X-Command-Id", entry.ID)
	}
	switch {
	case errors.Is(err, appliance.ErrOverloaded):
		return &refusal{status: http.StatusServiceUnavailable, detail: "too many commands are waiting; nothing was done", wait: time.Second, cause: err}
	case errors.Is(err, appliance.ErrNotFound):
		return meaningless("/target/id", err.Error())
	case errors.Is(err, appliance.ErrUnable), errors.Is(err, appliance.ErrOutOfRange):
		return meaningless("", err.Error())
	case err != nil && entry.ID == "":
		return err
	}
	return answer(c, http.StatusOK, entryOf(entry))
}
