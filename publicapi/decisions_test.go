package publicapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// The tests of this file are named after the decisions about what the contract
// does not show; docs/public-api.md gives their reasons.

func TestDecisionIntegersSentAsStringsAreAccepted(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for _, body := range []string{
		`{"targetType":"3","targetId":"1","channelId":"2","command":"DIM","dimLevel":"50"}`,
		`{"targetType":" 3 ","targetId":"1","channelId":"2","command":"DIM","dimLevel":"50.0"}`,
		`{"targetType":3.0,"targetId":1e0,"channelId":2,"command":"DIM","dimLevel":5e1}`,
		"\xef\xbb\xbf" + `{"targetType":3,"targetId":1,"channelId":2,"command":"DIM","dimLevel":50}`,
	} {
		h.post("/svc/api/channelControl", body).want(t, 200, `{"status":1}`)
		got := h.core.commands()
		if len(got) != 1 || got[0].Level != 50 || got[0].Channel != 2 || got[0].Target.ID != 1 {
			t.Errorf("%s: got %+v", body, got)
		}
	}
	h.post("/svc/api/setRGBW", `{"targetType":"1","R":"1","G":"2","B":"3","W":"4","DL":"101"}`).want(t, 200, `{"status":1}`)
	h.post("/svc/api/shadeControl", `{"targetType":"2","targetId":"1","command":"POS","posValue":"50"}`).want(t, 200, `{"status":1,"shadeState":"STOPPED"}`)
	h.post("/svc/api/setColorTemp", `{"targetType":"2","targetId":"1","colorTemp":"4000"}`).want(t, 200, `{"status":1}`)
}

func TestDecisionColorTempIsClampedAndWordedInKelvin(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for sent, want := range map[string]appliance.Kelvin{"3000": 3000, "5000": 5000, "2999": 3000, "5001": 5000, "-9007199254740992": 3000, "9007199254740992": 5000, "0": 3000} {
		h.post("/svc/api/setColorTemp", `{"targetType":1,"colorTemp":`+sent+`}`).want(t, 200, `{"status":1}`)
		if got := h.core.commands(); len(got) != 1 || got[0].Kelvin != want {
			t.Errorf("%s: got %+v, want %d K", sent, got, want)
		}
	}
	for _, absent := range []string{``, `,"colorTemp":null`, `,"colorTemp":""`} {
		h.post("/svc/api/setColorTemp", `{"targetType":1`+absent+`}`).
			want(t, 400, `{"status":0,"message":"colorTemp: missing; want an integer 3000 to 5000, in kelvin"}`)
	}
}

func TestDecisionPathsWithNeedlessEscapesAreTheSame(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	want := h.get("/svc/api/getClusters").body
	for path, status := range map[string]int{
		"/svc/api/get%43lusters":              200,
		"/%73vc/%61pi/getCluster%73":          200,
		"/svc/api/get%2543lusters":            404, // an escaped escape is none
		"/svc%2fapi/getClusters":              404,
		"/svc/api%2FgetClusters":              404,
		"/svc/api/x/%2e%2e/getClusters":       404,
		"/svc/api/x%2F%2E%2E%2Fget%43lusters": 404,
		"/docs/%2e%2e/svc/api/getClusters":    404,
	} {
		got := h.get(path)
		if got.status != status || status == 200 && got.body != want {
			t.Errorf("%s: got %d %s, want %d", path, got.status, got.body, status)
		}
	}
}

func TestDecisionOldClientsContentTypesAndExtraFieldsAreAccepted(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for _, contentType := range []string{"", "text/plain", "application/json; charset=utf-8", "application/x-www-form-urlencoded"} {
		h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON","user":{"a":[1]},"dimLevel":null,"channelId":""}`,
			"Content-Type: "+contentType).want(t, 200, `{"status":1}`)
	}
}

func TestDecisionDimWith0EqualsOff(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.post("/svc/api/channelControl", `{"targetType":1,"command":"DIM","dimLevel":0}`)
	if got := h.core.commands(); len(got) != 1 || got[0].Kind != appliance.LightOff {
		t.Errorf("got %+v, want LightOff", got)
	}
}

func TestDecisionUnknownTargetOrWrongFamilyIsStatus0(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for _, cause := range []error{
		appliance.ErrNotFound, appliance.ErrUnable, appliance.ErrExpired, appliance.ErrSuperseded, appliance.ErrUnreachable,
		appliance.ErrBusDown, context.DeadlineExceeded,
	} {
		h.core.answer(func(context.Context, appliance.Command) (appliance.Entry, error) {
			return appliance.Entry{ID: "01REFUSED"}, fmt.Errorf("shade 1: %w", cause)
		})
		got := h.post("/svc/api/shadeControl", `{"targetType":3,"targetId":1,"command":"UP"}`)
		got.want(t, 200, `{"status":0,"message":"shade 1: `+cause.Error()+`","shadeState":"UNKNOWN"}`)
		if id := got.header.Get("X-Command-Id"); id != "01REFUSED" {
			t.Errorf("X-Command-Id is %q", id)
		}
		h.post("/svc/api/channelControl", `{"targetType":3,"targetId":5001,"command":"ON"}`).
			want(t, 200, `{"status":0,"message":"shade 1: `+cause.Error()+`"}`)
	}
}

func TestDecisionOutOfRangeOfTheCoreIs400(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.core.answer(func(context.Context, appliance.Command) (appliance.Entry, error) {
		return appliance.Entry{}, fmt.Errorf("channel 99: %w", appliance.ErrOutOfRange)
	})
	h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON"}`).want(t, 400, `{"status":0,"message":"channel 99: out of range"}`)
}

func TestDecisionAFaultOfOursIs500AndTellsNothing(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.core.answer(func(context.Context, appliance.Command) (appliance.Entry, error) {
		return appliance.Entry{}, errors.New("disk /dev/secret on fire")
	})
	h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON"}`).want(t, 500, `{"status":0,"message":"internal error"}`)
	if !strings.Contains(h.log.String(), "on fire") {
		t.Error("the cause is not in the log")
	}
	h.core.answer(func(context.Context, appliance.Command) (appliance.Entry, error) { panic("boom") })
	h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON"}`).want(t, 500, `{"status":0,"message":"internal error"}`)
	if !strings.Contains(h.log.String(), "boom") {
		t.Error("the panic is not in the log")
	}
	if n := h.api.waiting.Load(); n != 0 {
		t.Errorf("%d calls count as waiting after a panic", n)
	}
}

func TestDecisionFailureIsWordedByTheCore(t *testing.T) {
	for want, c := range map[string]struct {
		entry appliance.Entry
		err   error
	}{
		"1 of 2 did not confirm: node 4: no answer": {entry: appliance.Entry{Err: "1 of 2 did not confirm: node 4: no answer"}},
		"cluster 9: not found":                      {entry: appliance.Entry{Err: "refused"}, err: fmt.Errorf("cluster 9: %w", appliance.ErrNotFound)},
		"the outcome is not known":                  {},
	} {
		if got := failure(c.entry, c.err); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestDecisionShadeDirectionInvertedTurnsNumbersOnly(t *testing.T) {
	b := lobby()
	b.s.Site.Settings.InvertShades = true
	h := newHouse(t, b.snapshot())
	if got := h.get("/svc/api/getShades").body; !strings.Contains(got, `"shadeLevel":70`) || !strings.Contains(got, `"shadeLevel":0,"shadeState":"UNKNOWN"`) {
		t.Errorf("getShades: got %s", got)
	}
	h.get("/svc/api/getLightLevels?targetType=3&targetId=5001").
		want(t, 200, `[{"Id":50014,"ClusterId":1,"NodeId":5001,"value":"70","valueType":"SHADE_LEVEL","Synchronize":"","AllVal":""}]`)
	if got := h.get("/svc/api/getClusters").body; strings.Count(got, `"shadeLevel":70`) != 1 || strings.Count(got, `"shadeLevel":0`) != 1 {
		t.Errorf("getClusters: want 70 with a shade and 0 without, got %s", got)
	}
	h.post("/svc/api/shadeControl", `{"targetType":3,"targetId":5001,"command":"POS","posValue":10}`)
	h.post("/svc/api/shadeControl", `{"targetType":3,"targetId":5001,"command":"UP"}`)
	got := h.core.commands()
	if len(got) != 2 || got[0].Position != 90 || got[1].Kind != appliance.ShadeOpen {
		t.Errorf("got %+v, want position 90, then open", got)
	}
}

func TestDecisionShadeState(t *testing.T) {
	moving := func(m ...appliance.Motion) *appliance.Snapshot {
		b := newSite()
		var ids []appliance.ID
		for i, m := range m {
			id := appliance.ID(5001 + i)
			ids = append(ids, id)
			b.shade(id, 1, "S", func(s *appliance.ShadeState) { s.Motion, s.Online = m, m != appliance.MotionUnknown })
		}
		return b.cluster(1, "C", nil, ids, func(c *appliance.ClusterState) { c.Motion = appliance.Closing }).snapshot()
	}
	for _, c := range []struct {
		name   string
		snap   *appliance.Snapshot
		target string
		want   string
	}{
		{"one opening", moving(appliance.Opening), `"targetType":3,"targetId":5001`, "OPENING"},
		{"one closing", moving(appliance.Closing), `"targetType":3,"targetId":5001`, "CLOSING"},
		{"one moving", moving(appliance.Moving), `"targetType":3,"targetId":5001`, "MOVING"},
		{"one stopped", moving(appliance.Stopped), `"targetType":3,"targetId":5001`, "STOPPED"},
		{"one unknown", moving(appliance.MotionUnknown), `"targetType":3,"targetId":5001`, "UNKNOWN"},
		{"none of that ID", moving(appliance.Opening), `"targetType":3,"targetId":1`, "UNKNOWN"},
		{"all the same", moving(appliance.Opening, appliance.Opening), `"targetType":1`, "OPENING"},
		{"all differ", moving(appliance.Opening, appliance.Stopped), `"targetType":1`, "MOVING"},
		{"all the same but one offline", moving(appliance.Opening, appliance.MotionUnknown), `"targetType":1`, "OPENING"},
		{"all offline", moving(appliance.MotionUnknown), `"targetType":1`, "UNKNOWN"},
		{"no shades", moving(), `"targetType":1`, "UNKNOWN"},
		{"a cluster's", moving(appliance.Opening), `"targetType":2,"targetId":1`, "CLOSING"},
		{"no such cluster", moving(appliance.Opening), `"targetType":2,"targetId":9`, "UNKNOWN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			newHouse(t, c.snap).post("/svc/api/shadeControl", `{`+c.target+`,"command":"UP"}`).
				want(t, 200, `{"status":1,"shadeState":"`+c.want+`"}`)
		})
	}
}

func TestDecisionReadsOfUnknownTargetsAre404(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for path, message := range map[string]string{
		"getNodesForCluster?clusterId=99":          "clusterId: no cluster 99",
		"getShadesForCluster?clusterId=99":         "clusterId: no cluster 99",
		"getLightLevels?targetType=2&targetId=99":  "targetId: no cluster 99",
		"getLightLevels?targetType=3&targetId=999": "targetId: no node or shade 999",
	} {
		h.get("/svc/api/"+path).want(t, 404, `{"status":0,"message":"`+message+`"}`)
	}
}

func TestDecisionBeyond64WaitingControlCalls503AndStopStillPasses(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	release := make(chan struct{})
	var begun sync.WaitGroup
	begun.Add(64)
	h.core.answer(func(_ context.Context, cmd appliance.Command) (appliance.Entry, error) {
		if cmd.Kind != appliance.ShadeStop {
			begun.Done()
			<-release
		}
		return succeeded(cmd), nil
	})
	var calls sync.WaitGroup
	for range 64 {
		calls.Go(func() {
			h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON"}`).want(t, 200, `{"status":1}`)
		})
	}
	begun.Wait()
	got := h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON"}`)
	got.want(t, 503, `{"status":0,"message":"too many control calls are waiting; nothing was done"}`)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	h.post("/svc/api/shadeControl", `{"targetType":1,"command":"STOP"}`).want(t, 200, `{"status":1,"shadeState":"STOPPED"}`)
	if got := h.get("/svc/api/getLightLevels"); got.status != 200 {
		t.Errorf("a read meanwhile: got %d", got.status)
	}
	close(release)
	calls.Wait()
	h.core.answer(func(context.Context, appliance.Command) (appliance.Entry, error) {
		return appliance.Entry{ID: "01FULL"}, fmt.Errorf("%w: 64 already", appliance.ErrOverloaded)
	})
	if got := h.post("/svc/api/channelControl", `{"targetType":1,"command":"ON"}`); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("when the core is full: got %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
}

func TestDecisionAClientThatHangsUpDoesNotUndoItsCommand(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	ctx, hangUp := context.WithCancel(t.Context())
	var during error
	h.core.answer(func(inner context.Context, cmd appliance.Command) (appliance.Entry, error) {
		hangUp()
		during = inner.Err()
		return succeeded(cmd), nil
	})
	h.sendWith(ctx, "POST", "/svc/api/channelControl", `{"targetType":1,"command":"ON"}`, "Authorization: Bearer "+h.token(account.RoleAdmin))
	if during != nil {
		t.Errorf("the command was told: %v", during)
	}
}

func TestDecisionStateAgeIsTheOldestValueInTheAnswer(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for path, want := range map[string]string{
		"getLightLevels":                         "20", // power of node 1
		"getLightLevels?targetType=3&targetId=2": "0",
		"getLightLevels?targetType=3&targetId=4": "",  // nothing known
		"getClusters":                            "3", // aggregates have no power
		"getActiveNodes":                         "20",
		"getShades":                              "0",
		"getNodesForCluster?clusterId=2":         "20",
		"getShadesForCluster?clusterId=2":        "",
	} {
		got := h.get("/svc/api/" + path).header.Get("X-State-Age")
		age, err := strconv.Atoi(got)
		least, _ := strconv.Atoi(want)
		if want == "" && got != "" || want != "" && (err != nil || age < least || age > least+5) {
			t.Errorf("%s: X-State-Age %q, want %q", path, got, want)
		}
	}
}

func TestDecisionETagAnd304(t *testing.T) {
	for _, path := range strings.Fields(readPaths) {
		t.Run(path, func(t *testing.T) {
			h := newHouse(t, lobby().snapshot())
			tag := h.get(path).header.Get("Etag")
			for _, match := range []string{tag, `"other", ` + tag, "*", "W/" + strings.TrimPrefix(tag, "W/"), strings.TrimPrefix(tag, "W/")} {
				got := h.get(path, "If-None-Match: "+match)
				got.want(t, 304, "")
				if got.header.Get("Etag") != tag || got.header.Get("X-State-Age") == "" {
					t.Errorf("304 without its headers: %v", got.header)
				}
			}
			if got := h.get(path, `If-None-Match: "other"`); got.status != 200 {
				t.Errorf("with another tag: got %d", got.status)
			}
			// A value changes: another tag.
			b := lobby()
			b.s.Values = 2
			b.s.Nodes[0].Level.Value = 41
			b.s.Clusters[0].Level = 61
			b.s.Shades[0].Position.Value = 31
			h.core.snap.Store(b.snapshot())
			if got := h.get(path, "If-None-Match: "+tag); got.status != 200 || got.header.Get("Etag") == tag {
				t.Errorf("after a change: got %d with tag %s", got.status, got.header.Get("Etag"))
			}
			// Only lastSeen moves: the same tag.
			again := lobby()
			again.s.Values = 3
			again.s.Nodes[0].LastSeen = time.Now()
			again.s.Shades[0].LastSeen = time.Now()
			h.core.snap.Store(again.snapshot())
			if got := h.get(path, "If-None-Match: "+tag); got.status != 304 {
				t.Errorf("after a change of lastSeen alone: got %d", got.status)
			}
		})
	}
}

func TestDecisionSuccessBodiesCarryTheContractsFieldsOnly(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for path, want := range map[string]string{
		"/svc/api/getClusters":    "id name createdByName createdOn nodeCount dimLevel shadeLevel colorLevel rgbw",
		"/svc/api/getLightLevels": "Id ClusterId NodeId value valueType Synchronize AllVal",
		"/svc/api/getActiveNodes": "id name clusterId clusterName tagType channelCount status dimLevel colorLevel rgbw power lastSeen",
		"/svc/api/getShades":      "id name nodeId clusterId clusterName shadeLevel shadeState status lastSeen",
	} {
		var records []json.RawMessage
		if err := json.Unmarshal([]byte(h.get(path).body), &records); err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(strings.NewReader(string(records[0])))
		var keys []string
		for depth := 0; ; {
			tok, err := dec.Token()
			if err != nil {
				break
			}
			if tok == json.Delim('{') {
				depth++
				continue
			}
			if s, ok := tok.(string); ok && depth == 1 {
				keys = append(keys, s)
				if _, err := dec.Token(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", path, got, want)
		}
	}
}
