package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/model"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/platform/sitetest"
	"svc.internal/controller/shelf/memory/confine"
)

// batchOf is a JSON-RPC batch of n calls.
func batchOf(n int, method, params string) string {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i+1, method, params)
	}
	return "[" + strings.Join(calls, ",") + "]"
}

const statusCall = `{"name":"get_status","arguments":{}}`

func TestABatchIsCountedWholeBeforeItsFirstCall(t *testing.T) {
	a := newAsked(t, peertest.Database{DataDir: t.TempDir()})
	_, value := a.ada.newKey(`{"name":"batches","rateLimit":30}`)
	key := "X-API-Key: " + value
	a.early(key)
	got := a.tool(batchOf(20, "tools/call", statusCall), key).want(t, 200, "a batch of twenty")
	if n := strings.Count(got.text, `"id":`); n < 20 {
		t.Errorf("%d answers to twenty calls: %s", n, got.text)
	}
	if left := got.Header.Get("X-RateLimit-Remaining"); left != "10" {
		t.Errorf("%s of 30 are left after twenty calls", left)
	}
	got = a.tool(batchOf(20, "tools/call", statusCall), key).want(t, 429, "a batch beyond what is left")
	if strings.Contains(got.text, `"result"`) {
		t.Errorf("part of it was done: %s", got.text)
	}
	a.tool(batchOf(8, "tools/call", statusCall), key).want(t, 200, "a batch that fits") // one went with the request that was refused
}

func TestBatchesHaveAnEnd(t *testing.T) {
	a := newAsked(t, peertest.Database{DataDir: t.TempDir()})
	key := "X-API-Key: " + a.key
	for name, c := range map[string]struct {
		body, version string
		status        int
		says          string
	}{
		"twenty":                       {batchOf(20, "tools/call", statusCall), "2025-03-26", 200, ""},
		"one more":                     {batchOf(21, "tools/call", statusCall), "", 400, "at most 20"},
		"thousands":                    {batchOf(9000, "tools/list", "{}"), "", 400, "at most 20"},
		"thousands that are nothing":   {"[" + strings.Repeat("1,", 400_000) + "1]", "", 400, "at most 20"},
		"a version without batches":    {batchOf(2, "tools/list", "{}"), "2025-06-18", 400, "has no batches"},
		"the next without":             {batchOf(2, "tools/list", "{}"), "2025-11-25", 400, "has no batches"},
		"none":                         {"[]", "", 400, "want an object"},
		"cut off":                      {`[{"jsonrpc":"2.0","method":"tools/list"},{"jsonrpc"`, "", 400, "no JSON array"},
		"something behind it":          {batchOf(2, "tools/list", "{}") + batchOf(20, "tools/list", "{}"), "", 400, "no JSON array"},
		"one that is no object at all": {"[1]", "", 400, ""},
	} {
		headers := []string{key}
		if c.version != "" {
			headers = append(headers, "Mcp-Protocol-Version: "+c.version)
		}
		if got := a.tool(c.body, headers...).want(t, c.status, name); !strings.Contains(got.text, c.says) {
			t.Errorf("%s: %s, want %q in it", name, got.text, c.says)
		}
	}
}

// paid is a language model that counts what it is asked, and may keep everybody waiting.
type paid struct {
	asked atomic.Int64
	hold  chan struct{} // nil: answers at once
	// tokens that each request costs.
	tokens int
}

func (*paid) Name() string { return "paid" }

func (p *paid) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	p.asked.Add(1)
	return func(yield func(model.Event, error) bool) {
		if p.hold != nil {
			select {
			case <-p.hold:
			case <-ctx.Done():
			}
		}
		_ = yield(model.Event{Text: "It is so."}, nil) && yield(model.Event{Tokens: p.tokens}, nil) && yield(model.Event{Stop: model.End}, nil)
	}
}

// askedWith is a building asked about through a language model.
func askedWith(t *testing.T, m model.Model) asked {
	t.Helper()
	b := sitetest.New()
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "", func(d *daemon) { d.sites, d.act, d.model = b, b, m })
	return asked{house: h, building: b, ada: h.newPerson("ada", platform.RoleUser)}
}

func TestAKeyHasSoManyRequestsToTheModel(t *testing.T) {
	p := &paid{}
	a := askedWith(t, p)
	id, value := a.ada.newKey(`{"name":"talks","rateLimit":20}`)
	call := `{"name":"chat","arguments":{"message":"Tell me about the karma of the lights in the lobby"}}`
	a.tool(batchOf(20, "tools/call", call), "X-API-Key: "+value).want(t, 200, "twenty questions")
	bucket := platform.Bucket{Limit: 20}.Model()
	if n := p.asked.Load(); n == 0 || n > int64(bucket.Limit) {
		t.Errorf("%d requests to the model for a key with a limit of 20, want at most %d", n, bucket.Limit)
	}
	metrics := a.newPerson("root", platform.RoleAdmin).api("GET", "/metrics", "").want(t, 200, "metrics").text
	for _, budget := range []string{"requests", "answers", "model"} {
		if !strings.Contains(metrics, `platform_budget_left{budget="`+budget+`",who="key:`+id+`"}`) {
			t.Errorf("metrics do not tell what the key has left of %s", budget)
		}
	}
	// Of a limit of one, what is beyond is answered by rules, and told.
	_, value = a.ada.newKey(`{"name":"talks once","rateLimit":1}`)
	before := p.asked.Load()
	got := a.chat(`{"message":"Tell me about the karma of the lights in the lobby"}`, "X-API-Key: "+value).want(t, 200, "a question")
	if n := p.asked.Load() - before; n > 3 {
		t.Errorf("%d requests to the model for one request: %s", n, got.text)
	}
}

// A day's cost is bounded in tokens, and shown; then the rules answer alone, and say so.
func TestAKeyHasSoManyTokensOfTheModel(t *testing.T) {
	p := &paid{tokens: 400_000}
	a := askedWith(t, p)
	id, value := a.ada.newKey(`{"name":"talks"}`)
	const body = `{"message":"Tell me about the karma of the lights in the lobby"}`
	for i := range 5 {
		got := a.chat(body, "X-API-Key: "+value).want(t, 200, "a question")
		if spent := strings.Contains(got.text, "used up"); spent != (i >= 3) {
			t.Errorf("question %d: %s", i, got.text)
		}
	}
	if n := p.asked.Load(); n != 3 {
		t.Errorf("%d requests to the model of 400,000 tokens each, want 3", n)
	}
	if metrics := a.newPerson("root", platform.RoleAdmin).api("GET", "/metrics", "").want(t, 200, "metrics").text; !strings.Contains(metrics, `platform_budget_left{budget="tokens",who="key:`+id+`"} 0`) {
		t.Error("metrics do not tell that the tokens are used up")
	}
}

func TestAKeyHasSoManyQuestionsAtOnce(t *testing.T) {
	p := &paid{hold: make(chan struct{})}
	a := askedWith(t, p)
	_, value := a.ada.newKey(`{"name":"talks","rateLimit":1000}`)
	_, other := a.ada.newKey(`{"name":"another","rateLimit":1000}`)
	const body = `{"message":"Tell me about the karma of the lights in the lobby"}`
	var wg sync.WaitGroup
	for range gate.AtOnceMost {
		wg.Go(func() { a.chat(body, "X-API-Key: "+value).want(t, 200, "one of those that may") })
	}
	eventually(t, "all that may are with the model", func() bool { return p.asked.Load() == gate.AtOnceMost })
	for _, door := range []string{chatPath, mcpPath} {
		got := a.ask("POST", door, `{"method":"tools/list","message":"x"}`, "X-API-Key: "+value).want(t, 429, "one more at "+door)
		if !strings.Contains(got.text, "under way") || got.Header.Get("Retry-After") == "" {
			t.Errorf("one more is told %s", got.text)
		}
	}
	for range gate.AtOnceMost { // the other key of the same person has as many, and then no third has one
		wg.Go(func() { a.chat(body, "X-API-Key: "+other).want(t, 200, "one of another key") })
	}
	eventually(t, "all of both keys are with the model", func() bool { return p.asked.Load() == 2*gate.AtOnceMost })
	_, third := a.ada.newKey(`{"name":"a third","rateLimit":1000}`)
	if got := a.tool(`{"method":"tools/list"}`, "X-API-Key: "+third).want(t, 429, "a third key"); !strings.Contains(got.text, "this person's keys") {
		t.Errorf("a third key is told %s", got.text)
	}
	_, ben := a.newPerson("ben", platform.RoleUser).newKey(`{"name":"of somebody else"}`)
	a.tool(`{"method":"tools/list"}`, "X-API-Key: "+ben).want(t, 200, "somebody else")
	close(p.hold)
	wg.Wait()
	a.tool(`{"method":"tools/list"}`, "X-API-Key: "+value).want(t, 200, "afterwards")
}

// TestUnreadBatchesInTheMemoryOfTheUnit brings what killed the program before: batches of
// thousands, and answers that nobody reads. Its unit has three times the memory.
func TestUnreadBatchesInTheMemoryOfTheUnit(t *testing.T) {
	drivertest.Long(t)
	group := confine.New(t, 512<<20)
	dir := t.TempDir()
	platformd(t, dir, password+"\n", "user", "add", "ada", "--password-stdin")
	s := serveIn(t, group, delivered(t), dir)
	ada := s.login("ada")
	id, value := ada.newKey(`{"name":"greedy","rateLimit":10000}`)
	_, other := ada.newKey(`{"name":"modest","rateLimit":10000}`)

	list := batchOf(9000, "tools/list", "{}")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { s.ask("POST", mcpPath, list, "X-API-Key: "+value).want(t, 400, "9,000 calls") })
	}
	wg.Wait()
	var held []net.Conn
	for _, body := range []string{list, batchOf(20, "tools/list", "{}")} {
		for range 30 {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, conn)
			if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", mcpPath, value, len(body))
			go io.WriteString(conn, body) // it may not be read whole
		}
	}
	for i, c := range held { // each has begun to be answered, and is read no further
		begun := make([]byte, len("HTTP/1.1 400"))
		c.SetReadDeadline(time.Now().Add(2 * time.Minute))
		if _, err := io.ReadFull(c, begun); err != nil {
			t.Fatalf("batch %d is not answered: %v; %d processes were ended by the kernel", i, err, group.Kills(t))
		}
	}
	for range 50 {
		s.ask("POST", mcpPath, `{"method":"tools/list"}`, "X-API-Key: "+other).want(t, 200, "another key meanwhile")
	}
	if n := group.Kills(t); n != 0 {
		t.Fatalf("the kernel ended the program %d times", n)
	}
	for _, c := range held {
		c.Close()
	}
	eventually(t, "the usage page tells what the greedy key had", func() bool {
		for _, k := range ada.api("GET", "/api/usage", "").want(t, 200, "usage").member("data.keys").([]any) {
			k := k.(map[string]any)
			answers, atOnce := k["answerBytes"].(map[string]any), k["atOnce"].(map[string]any)
			if k["id"] == id {
				return answers["used"].(float64) > 0 && answers["limit"].(float64) >= platform.AnswerBytes && atOnce["limit"].(float64) == gate.AtOnceMost && k["modelRequests"] == nil
			}
		}
		return false
	})
}

// delivered is the program as it is delivered, built once for all tests: the race detector takes a multiple of the memory.
func delivered(t *testing.T) string {
	t.Helper()
	program, err := buildDelivered()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// deliveredIn is the folder of that program while the tests run; empty: none was built.
var deliveredIn string

var buildDelivered = sync.OnceValues(func() (program string, err error) {
	if deliveredIn, err = os.MkdirTemp("", "platformd-test"); err != nil {
		return "", err
	}
	program = filepath.Join(deliveredIn, "platformd")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return program, nil
})

// Who has had all the bytes that a key may have is told when it goes on. Whoever may ask
// much has more of them.
func TestAnswersOfAKeyHaveAnEnd(t *testing.T) {
	b := sitetest.New()
	var limit counter
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "", func(d *daemon) { d.sites, d.act, limit = b, b, d.limit })
	id, value := h.newPerson("ada", platform.RoleUser).newKey(`{"name":"reads","rateLimit":1000}`)
	const list = `{"method":"tools/list"}`
	h.ask("POST", mcpPath, list, "X-API-Key: "+value).want(t, 200, "the list")
	bucket := platform.Bucket{ID: "key:" + id, Limit: 1000, Window: platform.Window}.Answers()
	eventually(t, "a window that is not about to end", func() bool { return time.Until(limit.Show(t.Context(), bucket).Reset) > 20*time.Second })
	if a := limit.Take(t.Context(), bucket, limit.Show(t.Context(), bucket).Remaining); !a.OK || a.Limit != platform.AnswerBytes {
		t.Fatalf("the bytes of the key are %+v", a)
	}
	last := h.ask("POST", mcpPath, list, "X-API-Key: "+value).want(t, 429, "when all bytes are had")
	if !strings.Contains(last.text, "64 MB") || last.Header.Get("Retry-After") == "" || last.Header.Get("Retry-After") == "0" {
		t.Errorf("told %s, to come again after %s", last.text, last.Header.Get("Retry-After"))
	}
	if large := (platform.Bucket{Limit: 100_000}).Answers(); large.Limit < 10*platform.AnswerBytes {
		t.Errorf("a key of 100,000 requests has %d bytes of answers", large.Limit)
	}
}
