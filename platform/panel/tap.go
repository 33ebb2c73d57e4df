package panel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// Sender sends a widget action, made at a time and worth nothing from exp on, under an ID to a controller and waits for its
// acknowledgement until ctx ends ([platform.ErrUnanswered], with [wire.Accepted] if the controller is at it). The same ID again is the
// same action.
type Sender interface {
	SendAs(ctx context.Context, controller, id string, made, exp time.Time, action wire.WidgetAction) (wire.Ack, error)
}

// Tap is what somebody did to a widget, in the device's words.
type Tap struct {
	Widget string
	Type   wire.Gesture
	Value  string
	ID     string    // the same for the same tap, however often it is told; empty: it is told once
	Made   time.Time // zero: just now
	// Finger: Made is when the finger was there, and not when somebody told of it, so that the tap counts for [wire.TapLife].
	Finger bool
}

// exp is from when on a tap is worth nothing.
func (t Tap) exp() time.Time {
	if t.Finger {
		return t.Made.Add(wire.TapLife)
	}
	return t.Made.Add(wire.Lifetime)
}

// tapID makes one ID of what tells a tap from all others of a device.
func tapID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p))))
		h.Write([]byte{':'})
		h.Write([]byte(p))
	}
	id, err := uuid.FromBytes(h.Sum(nil)[:16])
	if err != nil {
		panic(err) // 16 bytes are one
	}
	return id.String()
}

// acts reports whether a gesture does something, rather than belong to one that does.
func (t Tap) acts() bool {
	switch t.Widget {
	case wire.LightPower:
		return t.Type == wire.Changed
	case wire.LightBrightness, wire.ShadePosition:
		return t.Type == wire.Changed || t.Type == wire.Released
	case wire.ShadePreset:
		return t.Type == wire.Released
	case wire.ShadeStop, wire.SceneRecall:
		return t.Type == wire.Clicked
	}
	return false
}

// gestures are the words of devices for what may happen to a widget, and widgets those of the panel.
var (
	gestures = []wire.Gesture{wire.Pressed, wire.Changed, wire.Released, wire.Clicked}
	widgets  = []string{wire.LightPower, wire.LightBrightness, wire.ShadePosition, wire.ShadePreset, wire.ShadeStop, wire.SceneRecall}
)

// strange says why a tap is none of the panel's, as a controller would; empty if it is one, even if it does nothing.
func (t Tap) strange() string {
	switch {
	case !slices.Contains(widgets, t.Widget):
		return fmt.Sprintf("widget %q is not on panel %s", t.Widget, wire.ControlsPanel)
	case !slices.Contains(gestures, t.Type):
		return fmt.Sprintf("type %q is not known: want pressed, changed, released or clicked", clip(string(t.Type)))
	}
	return ""
}

// clip keeps strangers' text short in answers.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// outcome of a tap, for whoever tapped.
type outcome struct {
	Success bool              `json:"success"`
	Message string            `json:"message"`
	Status  wire.AckStatus    `json:"status,omitempty"` // as the controller said, "accepted" while it is at it; absent: nothing was heard
	Widgets map[string]string `json:"widgets,omitempty"`
	Time    *time.Time        `json:"time,omitempty"` // when this was told, to a panel that reckons wrongly
}

// put puts a tap to the controller of a device.
func (r *Room) put(ctx context.Context, d platform.RoomDevice, t Tap) outcome {
	if missing := d.Missing(); missing != "" {
		return outcome{Message: missing}
	}
	action := wire.WidgetAction{
		DeviceID: d.ID, WorkspaceName: d.Workspace, PanelID: wire.ControlsPanel,
		WidgetID: t.Widget, Action: t.Type, Value: t.Value, Origin: wire.OriginPanel,
	}
	if n, err := strconv.ParseUint(t.Value, 10, 8); err == nil && (t.Widget == wire.LightBrightness || t.Widget == wire.ShadePosition) {
		p := wire.PercentOf(int(n))
		action.Percent = &p
	}
	if t.Made.IsZero() {
		t.Made = time.Now()
	}
	if t.ID == "" {
		t.ID = uuid.Must(uuid.NewV7()).String()
	}
	r.cfg.Board.tell(d.Controller, d.ID, about(t.Widget), "") // it was of before
	ack, err := r.cfg.Send.SendAs(ctx, d.Controller, t.ID, t.Made, t.exp(), action)
	switch {
	case errors.Is(err, platform.ErrUnanswered):
		return outcome{Success: true, Message: "Sent.", Status: ack.Status}
	case err != nil && t.Finger && t.Made.Before(r.began): // told once more: the program before this one may have sent it
		return outcome{Message: nothingKnown, Status: unknown}
	case errors.Is(err, platform.ErrOffline), errors.Is(err, platform.ErrNotFound):
		return outcome{Message: platform.ControllerOffline}
	case err != nil:
		r.cfg.Log.Warn("a tap was not sent", "device", d.ID, "controller", d.Controller, "why", err)
		return outcome{Message: "That could not be sent; try again."}
	}
	r.cfg.Board.Shown(d.Controller, d.ID, ack.Widgets)
	if mistaken(ack) {
		r.cfg.Board.again(d.Controller, d.ID)
	}
	return outcome{Success: ack.Status == wire.Applied, Message: inWords(ack), Status: ack.Status, Widgets: ack.Widgets}
}

// tooLate is said of a tap that was worth nothing any more when it came.
const tooLate = "That came too late; nothing was done."

// nothingKnown is said of a tap, as unknown, of which this program cannot tell whether it was done.
const (
	nothingKnown                = "Nothing is known of it; what is shown here counts."
	unknown      wire.AckStatus = "unknown"
)

// mistaken reports whether the panel shows what was tapped and is not so: it has to learn the truth.
func mistaken(ack wire.Ack) bool { return ack.Status != wire.Applied && ack.Status != wire.Stale }

// inWords says for whoever tapped what became of it.
func inWords(ack wire.Ack) string {
	switch {
	case ack.Status == wire.Failed && len(ack.Not) > 0:
		var who []string
		for _, x := range ack.Not {
			who = append(who, x.Name+" "+platform.WhyNot(string(x.Why)))
		}
		return platform.NotAll(ack.Things, who)
	case ack.Status == wire.Expired:
		return tooLate
	case ack.Status == wire.Applied && ack.Offline == 1:
		return "1 device is offline."
	case ack.Status == wire.Applied && ack.Offline > 1:
		return fmt.Sprintf("%d devices are offline.", ack.Offline)
	case ack.Status != wire.Applied && ack.Detail == "":
		return tooLate
	}
	return ack.Detail
}
