package panel

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sse"
	"svc.internal/controller/shelf/web"
)

// PanelsPath begins the paths of panels.
const PanelsPath = "/api/conferencing/panels/"

const (
	// perPanel is how many requests a panel may send in a minute: two people who slide, five times a second each.
	perPanel = 600
	// answerWithin is how long whoever taps waits for the hardware.
	answerWithin = 1500 * time.Millisecond
	// waitMost is how long a request may wait for another value.
	waitMost = 25 * time.Second
	// streamsPanel are open at a time for one panel, streamsAddress from one address, which may be a proxy, and
	// streamsMost in all.
	streamsPanel, streamsAddress, streamsMost = 8, 256, 1024
)

// panels registers what a panel itself asks: the page in a browser, and the macro on a device.
func (r *Room) panels(e *echo.Echo) {
	e.GET(PanelsPath+":id", r.values)
	e.GET(PanelsPath+":id/events", r.events)
	e.POST(PanelsPath+":id/widget", r.widget)
	e.POST(PanelsPath+":id/say", r.say)
}

var errCode = web.Refuse(http.StatusUnauthorized, "Send the panel code of a deployed panel as 'Authorization: Bearer …' or ?code=…")

// device finds the panel's device if the request has its code, and counts the request.
func (r *Room) device(c echo.Context) (platform.RoomDevice, error) {
	id, err := url.PathUnescape(c.Param("id"))
	if err != nil {
		id = ""
	}
	d, err := r.cfg.Store.RoomDevice(c.Request().Context(), id)
	if err != nil && !errors.Is(err, platform.ErrNotFound) {
		return d, err
	}
	if !sameSecret(codeOf(c), d.Code) {
		if err := r.cfg.Charge(c, r.cfg.Stranger(c.Request())); err != nil {
			return d, err
		}
		return d, errCode
	}
	if !web.SetCaller(c, &web.Caller{Name: "panel " + d.ID}) {
		return d, web.ErrCrowded
	}
	return d, r.cfg.Charge(c, platform.Bucket{ID: "panel:" + d.ID, Limit: perPanel, Window: time.Minute})
}

func codeOf(c echo.Context) string {
	if scheme, code, ok := strings.Cut(c.Request().Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(code)
	}
	return c.QueryParam("code")
}

// sameSecret compares digests, so that neither a length nor how much is right can be timed. Nothing is no secret.
func sameSecret(sent, want string) bool {
	a, b := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

// view is what a panel should show. A widget whose value is not known is absent.
type view struct {
	Device    string            `json:"deviceId"`
	Workspace string            `json:"workspaceName"`
	Online    bool              `json:"online"` // the controller of the room is there
	Voice     bool              `json:"voice"`  // sentences can be said here
	Widgets   map[string]string `json:"widgets"`
	Scenes    []wire.Scene      `json:"scenes,omitempty"` // that can be recalled
	things                      // one by one, as far as they are reported
	// Message is what became of the last thing that was done here, where its answer was that it is sent; absent otherwise.
	Message string `json:"message,omitempty"`
	Tag     string `json:"tag"` // of these values, for ?since=
	// Time is when this was told: by it a panel reckons when a finger was there, see at in a tap.
	Time time.Time `json:"time"`
}

func (r *Room) view(ctx context.Context, d platform.RoomDevice) (view, <-chan struct{}, error) {
	widgets, told, next := r.cfg.Board.of(d.Controller, d.ID)
	v := view{Device: d.ID, Workspace: d.Workspace, Voice: r.cfg.Say != nil, Widgets: widgets, Scenes: r.cfg.Board.Scenes(d.Controller, d.ID), Message: told}
	if v.Widgets == nil {
		v.Widgets = map[string]string{}
	}
	if d.Controller == "" {
		return v, next, nil
	}
	at, err := r.cfg.Store.Enrolment(ctx, d.Controller)
	if err != nil && !errors.Is(err, platform.ErrNotFound) {
		return v, next, err
	}
	v.Online = err == nil && platform.Reachable(at.Controller, time.Now())
	if err == nil {
		v.things, err = r.houses.room(ctx, at.Controller, d.Clusters)
	} else {
		err = nil // it was removed
	}
	return v, next, err
}

// tagged is v with a tag that names its values.
func (v view) tagged() (view, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return v, err
	}
	sum := sha256.Sum256(b)
	v.Tag, v.Time = hex.EncodeToString(sum[:8]), time.Now().UTC()
	return v, nil
}

// values answers what the panel should show. With ?since=tag and ?wait=seconds it waits until that is something else;
// ?macro=version is how a macro says which it is.
func (r *Room) values(c echo.Context) error {
	d, err := r.device(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	r.heard(ctx, d, c.QueryParam("macro"))
	seconds, _ := strconv.Atoi(c.QueryParam("wait")) // nonsense does not wait
	end := time.NewTimer(min(time.Duration(max(seconds, 0))*time.Second, waitMost))
	defer end.Stop()
	c.Response().Header().Set("Cache-Control", "no-store")
	for over := false; ; {
		v, next, err := r.view(ctx, d)
		if err == nil {
			v, err = v.tagged()
		}
		if err != nil {
			return err
		}
		if over || c.QueryParam("since") != v.Tag {
			return c.JSON(http.StatusOK, v)
		}
		select {
		case <-next:
		case <-end.C:
			over = true
		case <-r.cfg.Ending:
			over = true
		case <-ctx.Done():
			return nil
		}
	}
}

// Rhythm of a panel's stream.
const (
	tickEvery = 15 * time.Second
	lookEvery = 2 * time.Second // at whether the controller is there and the panel still deployed
	// lookAgain is how soon after a change, and then twice as long after that, since what single things report is known a moment
	// after what the room shows.
	lookAgain = 300 * time.Millisecond
)

// events streams what the panel should show whenever that changes.
func (r *Room) events(c echo.Context) error {
	d, err := r.device(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	mine, err := r.streams.Enter(d.ID, web.Peer(c.Request()))
	if err != nil {
		return fmt.Errorf("%w: %w", platform.ErrOverloaded, err)
	}
	defer mine.Leave()
	v, next, err := r.view(ctx, d)
	if err == nil {
		v, err = v.tagged()
	}
	if err != nil {
		return err
	}
	s := sse.Open(c)
	defer s.Close()
	tick := func() error { return s.Send("tick", map[string]time.Time{"time": time.Now().UTC()}) }
	if tick() != nil || s.Send("values", v) != nil {
		return nil // the reader is gone
	}
	pause := lookAgain
	beat, look, again := time.NewTicker(tickEvery), time.NewTicker(lookEvery), time.NewTimer(pause)
	defer beat.Stop()
	defer look.Stop()
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.cfg.Ending:
			return nil
		case <-mine.Displaced():
			s.Displaced()
			return nil
		case <-beat.C:
			if tick() != nil {
				return nil
			}
			continue
		case <-look.C:
			now, err := r.cfg.Store.RoomDevice(ctx, d.ID)
			if errors.Is(err, platform.ErrNotFound) || err == nil && !sameSecret(now.Code, d.Code) {
				return nil
			}
			if err == nil {
				d = now
			}
		case <-again.C:
			if pause *= 2; pause < lookEvery {
				again.Reset(pause)
			}
		case <-next: // of some panel
			var widgets map[string]string
			var told string
			if widgets, told, next = r.cfg.Board.of(d.Controller, d.ID); told == v.Message && maps.Equal(widgets, v.Widgets) && slices.Equal(v.Scenes, r.cfg.Board.Scenes(d.Controller, d.ID)) {
				continue
			}
		}
		var now view
		if now, next, err = r.view(ctx, d); err == nil {
			now, err = now.tagged()
		}
		if err != nil || now.Tag == v.Tag {
			continue // the next look may know more
		}
		v = now
		pause = lookAgain
		again.Reset(pause)
		if s.Send("values", v) != nil {
			return nil
		}
	}
}

// widget takes a tap. The names of members are those of the device's own event, in any case.
func (r *Room) widget(c echo.Context) error {
	d, err := r.device(c)
	if err != nil {
		return err
	}
	var in struct {
		Widget string       `json:"widgetId"`
		Type   wire.Gesture `json:"type"`
		Value  string       `json:"value"`
		// Source and Seq name a tap: told again, it is the same.
		Source string `json:"source"`
		Seq    int64  `json:"seq"`
		// At is when the finger was there, by the times that the panel was told; absent: nobody knows.
		At time.Time `json:"at"`
	}
	if err := readBody(c, &in); err != nil {
		return err
	}
	if in.Widget == "" || in.Type == "" || len(in.Widget) > 40 || len(in.Value) > 255 || len(in.Source) > 64 {
		return platform.Invalid("want widgetId and type, and value up to 255 characters")
	}
	t := Tap{Widget: in.Widget, Type: in.Type, Value: in.Value}
	if why := t.strange(); why != "" {
		return c.JSON(http.StatusOK, outcome{Status: wire.Rejected, Message: why})
	}
	if !t.acts() {
		return c.JSON(http.StatusOK, outcome{Success: true})
	}
	if !in.At.IsZero() {
		t.Finger, t.Made = true, in.At
		if now := time.Now(); t.Made.After(now) { // its clock runs ahead
			t.Made = now
		}
		if !time.Now().Before(t.exp()) {
			widgets, _, _ := r.cfg.Board.of(d.Controller, d.ID)
			return c.JSON(http.StatusOK, outcome{Status: wire.Expired, Message: tooLate, Widgets: widgets, Time: new(time.Now().UTC())})
		}
	}
	if in.Source != "" && in.Seq > 0 {
		if !r.lanes.inOrder(d.ID, in.Widget, in.Source, in.Seq) {
			return c.JSON(http.StatusOK, outcome{Status: wire.Stale, Message: "Something newer came before."})
		}
		t.ID = tapID("panel", d.ID, in.Source, strconv.FormatInt(in.Seq, 10))
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), answerWithin)
	defer cancel()
	return c.JSON(http.StatusOK, r.put(ctx, d, t))
}

// late answers a sentence that was worth nothing any more when it came, as one that was is answered.
type late struct {
	Success   bool      `json:"success"`
	Message   string    `json:"message"`
	Device    string    `json:"deviceId"`
	Workspace string    `json:"workspaceName"`
	Reply     string    `json:"reply"`
	Speak     string    `json:"speak"`
	Time      time.Time `json:"time"` // when this was told, to a page that reckons wrongly
}

// say takes a sentence said at the panel.
func (r *Room) say(c echo.Context) error {
	d, err := r.device(c)
	if err != nil {
		return err
	}
	if r.cfg.Say == nil {
		return platform.ErrNotFound
	}
	var in struct {
		Text string `json:"text"`
		// At is when it was said, by the times that the panel was told; absent: just now.
		At time.Time `json:"at"`
	}
	if err := readBody(c, &in); err != nil {
		return err
	}
	if strings.TrimSpace(in.Text) == "" || utf8.RuneCountInString(in.Text) > 500 {
		return platform.Invalid("text: want 1 to 500 characters")
	}
	if now := time.Now(); !in.At.IsZero() && now.Sub(in.At) >= wire.TapLife {
		return c.JSON(http.StatusOK, late{Message: tooLate, Device: d.ID, Workspace: d.Workspace, Reply: tooLate, Speak: tooLate, Time: now.UTC()})
	}
	said, err := r.cfg.Say(c.Request().Context(), d.ID, in.Text)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, said)
}

func readBody(c echo.Context, into any) error {
	data, err := web.ReadBody(c, bodyLimit)
	if err != nil {
		return err
	}
	if !utf8.Valid(data) || web.Decode(data, into) != nil {
		return platform.Invalid("body is not a JSON object of the right kind that names everything once")
	}
	return nil
}
