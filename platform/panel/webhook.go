package panel

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// WebhookPath is where Webex sends its notifications.
const WebhookPath = "/api/conferencing/webhooks/webex"

const (
	// webhookMost bounds a batch of notifications.
	webhookMost = 256 << 10
	// aheadMost is how far ahead of ours their clock may be.
	aheadMost = wire.MaxLifetime
	// waitingMost taps of one device wait for those before, the newest.
	waitingMost = 64
)

// notification is one entry of a batch.
type notification struct {
	Device    string    `json:"deviceId"`
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Events    []struct {
		Key   string `json:"key"`
		Value struct {
			Widget string       `json:"WidgetId"`
			Type   wire.Gesture `json:"Type"`
			Value  string       `json:"Value"`
		} `json:"value"`
	} `json:"events"`
	Changes struct {
		Updated map[string]any `json:"updated"`
	} `json:"changes"`
}

const widgetAction = "UserInterface.Extensions.Widget.Action"

// forgetful begin keys of events and statuses after which a device may show anything: it was started, or its panel opened.
var forgetful = []string{"BootEvent", "UserInterface.Extensions.Event.PageOpened", "UserInterface.Extensions.Panel", "SystemUnit.", "Cloud."}

var errSignature = web.Refuse(http.StatusUnauthorized, "The signature does not fit the body and the webhook's secret")

// webhook takes a batch of notifications. It answers once they are queued: taps wait for hardware, Webex does not.
func (r *Room) webhook(c echo.Context) error {
	body, err := web.ReadBody(c, webhookMost)
	if err != nil {
		return err
	}
	if !signed(body, r.cfg.WebhookSecret, c.Request().Header.Get("X-Spark-Signature")) {
		if err := r.cfg.Charge(c, r.cfg.Stranger(c.Request())); err != nil {
			return err
		}
		return errSignature
	}
	if !web.SetCaller(c, &web.Caller{Name: "webhook"}) {
		return web.ErrCrowded
	}
	var batch []notification
	if len(body) > 0 && body[0] == '{' {
		batch = make([]notification, 1)
		err = json.Unmarshal(body, &batch[0])
	} else {
		err = json.Unmarshal(body, &batch)
	}
	if err != nil {
		return platform.Invalid("body is no list of notifications")
	}
	ctx := c.Request().Context()
	for _, n := range batch {
		if err := r.notified(ctx, n); err != nil {
			return err // sent again, they are the same taps
		}
	}
	return c.NoContent(http.StatusNoContent)
}

// signed checks the signature of a body: its HMAC in hexadecimal, with SHA-1 or SHA-256 by length.
func signed(body []byte, secret, signature string) bool {
	sent, err := hex.DecodeString(signature)
	if err != nil || secret == "" {
		return false
	}
	kind := map[int]func() hash.Hash{sha1.Size: sha1.New, sha256.Size: sha256.New}[len(sent)]
	if kind == nil {
		return false
	}
	mac := hmac.New(kind, []byte(secret))
	mac.Write(body)
	return hmac.Equal(mac.Sum(nil), sent)
}

func (r *Room) notified(ctx context.Context, n notification) error {
	if n.Device == "" || n.Type != "events" && n.Type != "status" {
		return nil // a health check and the like
	}
	d, err := r.cfg.Store.RoomDevice(ctx, n.Device)
	if errors.Is(err, platform.ErrNotFound) {
		r.cfg.Log.Info("an event of a device that nobody entered", "device", n.Device)
		return nil
	}
	if err != nil {
		return err
	}
	age := time.Since(n.Timestamp)
	for i, e := range n.Events {
		if e.Key != widgetAction {
			if isForgetful(e.Key) {
				r.cfg.Board.again(d.Controller, d.ID)
			}
			continue
		}
		stamp := n.Timestamp.UTC().Format(time.RFC3339Nano)
		t := Tap{
			Widget: e.Value.Widget, Type: e.Value.Type, Value: e.Value.Value, Made: n.Timestamp,
			ID: tapID("webex", d.ID, stamp, strconv.Itoa(i), e.Value.Widget, string(e.Value.Type), e.Value.Value),
		}
		switch {
		case age > wire.Lifetime || age < -aheadMost:
			r.cfg.Log.Info("a tap came too late and was dropped", "device", d.ID, "widget", t.Widget, "age", age.Round(time.Millisecond))
			r.cfg.Board.again(d.Controller, d.ID)
		case !t.acts() || !r.lanes.inOrder(d.ID, t.Widget, "webex", n.Timestamp.UnixMicro()):
		case !r.queue.push(d.ID, t):
			return platform.ErrOverloaded
		}
	}
	for key := range n.Changes.Updated {
		if isForgetful(key) {
			r.cfg.Board.again(d.Controller, d.ID)
			break
		}
	}
	return nil
}

func isForgetful(key string) bool {
	return slices.ContainsFunc(forgetful, func(p string) bool { return strings.HasPrefix(key, p) })
}

// queue hands the taps of each device on, one after the other.
type queue struct {
	deliver func(device string, t Tap)

	mu      sync.Mutex
	waiting map[string][]Tap // a device without an entry has nobody at work
	wg      sync.WaitGroup
	ended   bool
}

// push queues a tap. What waits of the same widget is overtaken by it, and of too many the oldest is dropped. It fails when the queue
// has ended.
func (q *queue) push(device string, t Tap) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return false
	}
	waiting, busy := q.waiting[device]
	waiting = slices.DeleteFunc(waiting, func(old Tap) bool { return old.Widget == t.Widget })
	if len(waiting) >= waitingMost {
		waiting = waiting[1:]
	}
	if q.waiting == nil {
		q.waiting = map[string][]Tap{}
	}
	q.waiting[device] = append(waiting, t)
	if !busy {
		q.wg.Go(func() { q.work(device) })
	}
	return true
}

func (q *queue) work(device string) {
	for {
		q.mu.Lock()
		waiting := q.waiting[device]
		if len(waiting) == 0 || q.ended {
			delete(q.waiting, device)
			q.mu.Unlock()
			return
		}
		t := waiting[0]
		q.waiting[device] = waiting[1:]
		q.mu.Unlock()
		q.deliver(device, t)
	}
}

// end drops what waits and returns when nothing is under way.
func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.wg.Wait()
}
