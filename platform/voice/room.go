package voice

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
	"svc.internal/controller/shelf/web"
)

// Path of the endpoint.
const Path = "/api/conferencing/voice/action"

// Bounds of a request.
const (
	bodyLimit = 16 << 10
	maxSource = 32
	maxDevice = 256
)

// answerWithin is how long a person waits for the first word of the controller before "sent" is said.
const answerWithin = 1500 * time.Millisecond

// sentenceMost is how long a person waits for what became of a sentence, if the controller says that its hardware takes so long.
const sentenceMost = 12 * time.Second

// stepLeast is what a further step of a sentence gets when those before have used the time up: it has to be sent as well.
const stepLeast = 250 * time.Millisecond

// perDevice is how many sentences one device may send in a minute.
const perDevice = 60

// Config of the endpoint.
type Config struct {
	Token string // the shared secret; empty only in Dev
	Dev   bool   // no secret is asked for; the caller sees to it that only loopback is served
	// Assistant answers what is no command; nil: such sentences are refused.
	Assistant platform.Asker
	Devices   Devices
	Send      Sender
	// Open shows the panel on a device by its maker's cloud. It fails with [platform.ErrNotFound] for devices that the cloud
	// does not know; nil: for all.
	Open func(ctx context.Context, device string) error
	Site platform.SiteReader
	// Shown is told what the panel of a device should show after a command; nil: nobody wants to know.
	Shown func(controller, device string, widgets map[string]string)
	// Answered is what the panel of a device should show, and when a tap or a sentence there was answered last; nil: nobody knows.
	Answered func(controller, device string) (widgets map[string]string, at time.Time)
	// Scenes are those that can be recalled at a device; nil: none.
	Scenes func(controller, device string) []wire.Scene
	// Charge counts a request in a bucket, or refuses it.
	Charge func(echo.Context, platform.Bucket) error
	// Stranger is the bucket of a request without the secret.
	Stranger func(*http.Request) platform.Bucket
	Log      *slog.Logger
}

// Devices finds conferencing devices.
type Devices interface {
	RoomDevice(ctx context.Context, id string) (platform.RoomDevice, error)
}

// Sender sends a widget action to a controller and waits for its acknowledgement: for patience, and for as long as the controller
// says within that time that it takes; until ctx ends at most ([platform.ErrUnanswered]).
type Sender interface {
	Send(ctx context.Context, controller string, action wire.WidgetAction, patience time.Duration) (wire.Ack, error)
}

// Room answers at [Path].
type Room struct {
	cfg   Config
	goals goals
	said  said
}

// NewRoom makes the room.
func NewRoom(cfg Config) *Room {
	return &Room{cfg: cfg, goals: goals{of: map[string]goal{}}, said: said{of: map[string]order{}}}
}

// Register adds the route.
func (r *Room) Register(e *echo.Echo) { e.POST(Path, r.act) }

// request is what a device sends.
type request struct {
	DeviceID *string `json:"deviceId"`
	Text     *string `json:"text"`
	Source   *string `json:"source"`
}

// Response is what a person hears and reads, in the language of the sentence. Speak is what Message is, and short; Reply may say more.
type Response struct {
	Success       bool   `json:"success"`
	Message       string `json:"message"`
	DeviceID      string `json:"deviceId"`
	WorkspaceName string `json:"workspaceName"`
	Reply         string `json:"reply"`
	Speak         string `json:"speak"`
	// Panel is the ID of a panel that the device should open; absent otherwise.
	Panel string `json:"panel,omitempty"`
}

var errToken = web.Refuse(http.StatusUnauthorized, "Send the voice action token as 'Authorization: Bearer …' or 'X-Voice-Action-Token: …'")

func (r *Room) act(c echo.Context) error {
	if !r.admits(c.Request()) {
		if err := r.cfg.Charge(c, r.cfg.Stranger(c.Request())); err != nil {
			return err
		}
		return errToken
	}
	if !web.SetCaller(c, &web.Caller{Name: "voice"}) {
		return web.ErrCrowded
	}
	in, err := requested(c)
	if err != nil {
		return err
	}
	bucket := bucketOf(*in.DeviceID)
	if err := r.cfg.Charge(c, bucket); err != nil {
		return err
	}
	out, err := r.Say(c.Request().Context(), *in.DeviceID, *in.Text, deref(in.Source))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}

// Say does what somebody said at a device, whose secret was checked and who was counted.
func (r *Room) Say(ctx context.Context, id, text, source string) (Response, error) {
	out := Response{DeviceID: id}
	device, missing, err := r.room(ctx, id)
	if err != nil {
		return out, err
	}
	out.WorkspaceName = device.Workspace
	if missing != "" {
		out.Message = missing
	} else {
		r.obey(ctx, device, text, &out)
	}
	out.Speak = out.Message
	if out.Reply == "" {
		out.Reply = out.Message
	}
	r.cfg.Log.Info("voice", "device", device.ID, "source", source, "success", out.Success, "message", out.Message)
	return out, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// admits reports whether a request carries the secret. Digests are compared, so that neither its length nor how much of it
// is right can be timed.
func (r *Room) admits(req *http.Request) bool {
	if r.cfg.Dev {
		return true
	}
	sent := req.Header.Get("X-Voice-Action-Token")
	if scheme, token, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok && sent == "" && strings.EqualFold(scheme, "Bearer") {
		sent = strings.TrimSpace(token)
	}
	a, b := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(r.cfg.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && r.cfg.Token != ""
}

func requested(c echo.Context) (in request, err error) {
	data, err := web.ReadBody(c, bodyLimit)
	if err != nil {
		return in, err
	}
	switch {
	case !utf8.Valid(data), json.Unmarshal(data, &in) != nil:
		return in, platform.Invalid("want a JSON object with deviceId and text, both text")
	case in.DeviceID == nil || *in.DeviceID == "" || len(*in.DeviceID) > maxDevice || strings.ContainsRune(*in.DeviceID, 0):
		return in, platform.Invalid("deviceId: want 1 to %d characters, none of them zero", maxDevice)
	case in.Text == nil || strings.TrimSpace(*in.Text) == "" || utf8.RuneCountInString(*in.Text) > MaxText:
		return in, platform.Invalid("text: want 1 to %d characters", MaxText)
	case in.Source != nil && utf8.RuneCountInString(*in.Source) > maxSource:
		return in, platform.Invalid("source: want at most %d characters", maxSource)
	}
	return in, nil
}

// room finds the room of a device, or what is missing before it can be controlled.
func (r *Room) room(ctx context.Context, id string) (d platform.RoomDevice, missing string, err error) {
	d, err = r.cfg.Devices.RoomDevice(ctx, id)
	switch {
	case errors.Is(err, platform.ErrNotFound):
		return platform.RoomDevice{}, platform.DeviceUnknown, nil
	case err != nil:
		return d, "", err
	}
	return d, d.Missing(), nil
}

// obey does what a sentence says, or says why not.
func (r *Room) obey(ctx context.Context, d platform.RoomDevice, text string, out *Response) {
	heard, frame := read(text)
	before, now := r.said.take(d.ID), time.Now()
	if before.text != "" && now.Sub(before.at) < correctsWithin && heard.Intent == Unknown {
		if f, ok := understand.Corrected(before.text, text, now); ok {
			heard, frame, text = heardIn(f), f, before.text
		}
	}
	if heard.Intent == Unknown && understand.Stops(text) && (before.moved && now.Sub(before.at) < runsWithin || r.shades(ctx, d).moving) {
		heard = Heard{Intent: ShadesStop}
	}
	lang := frame.Lang
	todo := []Heard{heard}
	var steps []gesture
	if heard.Intent == Compound && len(heard.Slots.Actions) > 0 {
		todo = heard.Slots.Actions
	} else if !heard.Acts() {
		scene, why := r.scene(d, text, lang)
		switch {
		case why != "":
			out.Message = why
			return
		case scene.scene == nil:
			r.discuss(ctx, d, heard, frame, text, out)
			return
		}
		todo, steps = nil, []gesture{scene}
	}
	for _, h := range todo {
		g, why := r.gesture(ctx, d, h, lang, steps)
		if why != "" { // all or nothing
			out.Message = why
			return
		}
		steps = append(steps, g)
	}
	began := time.Now()
	var all []saying
	ok := true
	for i := 0; i < len(steps) && ok; i++ {
		gone := time.Since(began)
		stepCtx, cancel := context.WithTimeout(ctx, max(sentenceMost-gone, stepLeast))
		var one saying
		one, ok = r.step(stepCtx, d, steps[i], lang, max(answerWithin-gone, stepLeast), out)
		cancel()
		all = append(all, one)
	}
	said := joined(all)
	out.Success, out.Message, out.Reply = ok, said.speak, said.reply
	last := order{at: time.Now(), moved: slices.ContainsFunc(steps, gesture.moves)}
	if len(todo) == 1 {
		last.text = text
	}
	r.said.put(d.ID, last)
}

// step does one thing that a sentence asks for and says what became of it, see [Sender].
func (r *Room) step(ctx context.Context, d platform.RoomDevice, g gesture, lang understand.Lang, patience time.Duration, out *Response) (saying, bool) {
	if g.widget != "" {
		return r.send(ctx, d, g, lang, patience)
	}
	if r.cfg.Open != nil {
		if err := r.cfg.Open(ctx, d.ID); err == nil {
			return same(g.done), true
		} else if !errors.Is(err, platform.ErrNotFound) {
			r.cfg.Log.Warn("voice: the panel was not opened", "device", d.ID, "why", err)
			return saying{in(lang, "The controls could not be opened."), in(lang, "The controls could not be opened; tap the panel's button on the screen.")}, false
		}
	}
	out.Panel = wire.ControlsPanel
	return same(g.done), true
}

// send puts one gesture to the controller and says what became of it.
func (r *Room) send(ctx context.Context, d platform.RoomDevice, g gesture, lang understand.Lang, patience time.Duration) (saying, bool) {
	ack, err := r.cfg.Send.Send(ctx, d.Controller, wire.WidgetAction{
		DeviceID: d.ID, WorkspaceName: d.Workspace, PanelID: wire.ControlsPanel,
		WidgetID: g.widget, Action: g.action, Value: g.value, Percent: g.percent, Origin: wire.OriginVoice,
	}, patience)
	switch {
	case errors.Is(err, platform.ErrUnanswered):
		r.goals.set(d.ID, g, ack, time.Now())
		return same(in(lang, "Sent.")), true
	case errors.Is(err, platform.ErrOffline), errors.Is(err, platform.ErrNotFound):
		return same(in(lang, platform.ControllerOffline)), false
	case err != nil:
		r.cfg.Log.Warn("voice: not sent", "device", d.ID, "controller", d.Controller, "why", err)
		return same(in(lang, "That could not be sent; try again.")), false
	}
	if r.cfg.Shown != nil {
		r.cfg.Shown(d.Controller, d.ID, ack.Widgets)
	}
	switch ack.Status {
	case wire.Applied, wire.Duplicate:
		r.goals.set(d.ID, g, ack, time.Now())
		return same(g.done + offline(lang, ack.Offline, g.thing())), true
	case wire.Expired, wire.Stale:
		return same(in(lang, "That came too late; nothing was done. Say it again.")), false
	}
	r.goals.forget(d.ID)
	if len(ack.Not) > 0 {
		return exceptions(lang, ack.Things, ack.Not), false
	}
	if ack.Detail != "" { // an older controller, which names nodes
		return saying{in(lang, "Not all of it was done."), "Not done: " + strings.TrimSuffix(ack.Detail, ".") + "."}, false
	}
	return same(in(lang, "That was not done.")), false
}

// bucketOf counts the sentences of a device.
func bucketOf(device string) platform.Bucket {
	return platform.Bucket{ID: "voice:" + device, Limit: perDevice, Window: time.Minute, Stranger: true}
}

// discuss answers a question about the lights or shades of the room, hands another sentence that does not act to the assistant if
// there is one, and says else why nothing is done.
func (r *Room) discuss(ctx context.Context, d platform.RoomDevice, h Heard, f understand.Frame, text string, out *Response) {
	said, ok := r.state(ctx, d, f)
	if f.Topic == understand.Help {
		said, ok = r.help(ctx, d, f.Lang), true
	}
	if ok {
		out.Success, out.Message, out.Reply = true, said.speak, said.reply
		return
	}
	if r.cfg.Assistant == nil || h.Intent == Unknown {
		said := refuse(f.Lang, f.Unclear)
		if h.Intent == Question && f.Topic != understand.Order && (f.Unclear == nil || f.Unclear.Why != understand.Absent || f.Is(understand.Asked)) {
			said = saying{in(f.Lang, "I only know how the lights and shades are."), in(f.Lang, cannot)}
		} else if h.Slots.Reason == Scope && f.Unclear == nil {
			said = refuse(f.Lang, &understand.Unclear{Why: understand.Elsewhere})
			if slices.ContainsFunc(f.Do, func(d understand.Do) bool { return d.Kind == understand.Everything && !d.House }) {
				said = same(in(f.Lang, whichOf))
			}
		} else if there := r.sceneNames(d); h.Slots.Reason == Scene && there != "" {
			said.reply = said.speak + " " + in(f.Lang, "It has: %s.", there)
		}
		out.Message, out.Reply = said.speak, said.reply
		return
	}
	ctx = platform.WithIdentity(ctx, platform.Identity{Bucket: bucketOf(d.ID)})
	reply, err := r.cfg.Assistant.Ask(ctx, platform.Inquiry{Owner: "voice:" + d.ID, Session: "voice", Message: text, Site: d.Controller}, nil)
	if err != nil {
		r.cfg.Log.Warn("voice: the assistant did not answer", "device", d.ID, "why", err)
		out.Message = in(f.Lang, "I cannot answer that now; try again.")
		return
	}
	out.Success, out.Reply, out.Message = true, reply.Text, firstSentences(reply.Text)
}
