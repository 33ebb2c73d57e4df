package wire

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestEveryPercentComesBackFromTheSlider(t *testing.T) {
	for p := 0; p <= 100; p++ {
		if got := PercentOf(SliderOf(p)); got != p {
			t.Errorf("%d percent is slider %d, which is %d percent", p, SliderOf(p), got)
		}
	}
	if SliderOf(100) != 255 || SliderOf(0) != 0 {
		t.Errorf("ends: %d, %d", SliderOf(0), SliderOf(100))
	}
}

func TestTopicsComeApartAsTheyWereMade(t *testing.T) {
	cid, below, ok := SplitTopic(StateTopic("house-1", KindShade, 5001))
	if !ok || cid != "house-1" {
		t.Fatalf("got %q, %v", cid, ok)
	}
	if kind, id, ok := SplitState(below); !ok || kind != KindShade || id != 5001 {
		t.Errorf("got %s %d %v", kind, id, ok)
	}
	for _, topic := range []string{"", "bms/v1/ctl/", "bms/v1/ctl/House/up/ack", "bms/v2/ctl/a/up/ack", "bms/v1/ctl/a/", PlatformStatus} {
		if _, _, ok := SplitTopic(topic); ok {
			t.Errorf("%q was taken", topic)
		}
	}
}

func TestEnvelopeComesBack(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.FixedZone("", 3600))
	b, err := Envelope{ID: "1", Type: TypeAck, TS: at, Corr: "0"}.Seal(Ack{Status: Applied})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(b)
	if err != nil {
		t.Fatal(err)
	}
	var ack Ack
	if err := e.Read(&ack); err != nil || ack.Status != Applied || e.Corr != "0" || !e.TS.Equal(at) {
		t.Errorf("got %+v %+v %v", e, ack, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, message := range map[string]string{
		"nonsense":        `{"v":1`,
		"another version": `{"v":2,"id":"1","type":"ack","ts":"2026-01-01T00:00:00Z"}`,
		"no id":           `{"v":1,"type":"ack","ts":"2026-01-01T00:00:00Z"}`,
		"no time":         `{"v":1,"id":"1","type":"ack"}`,
		"too large":       `{"v":1,"id":"1","type":"ack","ts":"2026-01-01T00:00:00Z","x":"` + strings.Repeat("x", MaxMessage) + `"}`,
	} {
		_, err := Open([]byte(message))
		if err == nil {
			t.Errorf("%s was taken", name)
		}
		if name == "another version" && !errors.Is(err, ErrVersion) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"1","type":"widget.action","ts":"2026-01-01T00:00:00Z","data":{"widgetId":"light_power"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Open(b)
		if err != nil {
			return
		}
		var action WidgetAction
		_ = e.Read(&action)
	})
}
