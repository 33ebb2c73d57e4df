package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/site/sitefile"
)

// TestCampaignKill ends daemon and imports with SIGKILL at random moments, while the
// daemon is commanded and imports make the site grow and shrink. After every kill
// the database must be whole, and the books of every ID ever seen must be right.
func TestCampaignKill(t *testing.T) {
	drivertest.Long(t)
	kills := 60
	if soak() {
		kills = 1000
	}
	h := &house{t: t, dataDir: filepath.Join(t.TempDir(), "data"), tokens: map[string]string{}}
	var err error
	if h.site, err = sitefile.Parse("test site", []byte(killSite)); err != nil {
		t.Fatal(err)
	}
	h.play()
	h.fillStore()
	c := &killing{house: h, desk: h.desk(), dice: rand.New(rand.NewPCG(1, 1)), books: newBooks(t)}
	c.books.look(c.export())
	c.calibrate()
	began := time.Now()
	for c.kills < kills {
		c.round()
		if t.Failed() {
			t.Fatalf("after %d kills", c.kills)
		}
	}
	c.startDaemon()
	c.daemon.stop()
	close(c.quit)
	c.commander.Wait()
	c.verify()
	t.Logf("%d kills in %v (an import takes %v): %d of the daemon, %d of imports; %d imports, %d of them told their report; %d daemon starts",
		c.kills, time.Since(began).Round(time.Second), c.span.Round(time.Millisecond), c.daemonKills, c.importKills, c.imports, c.reported, c.starts)
	t.Logf("%d nouns seen, %d promised and still there, %d retired; %d imports cut short had taken effect, %d more were seen later; %d commands, %d confirmed",
		len(c.books.ids), len(c.books.promised), len(c.books.gone), c.books.tookEffect, c.books.surfaced, c.commands.Load(), c.confirmed.Load())
	if c.confirmed.Load() == 0 || c.reported == 0 || c.importKills == 0 {
		t.Error("nothing was confirmed, reported or cut short: the campaign shows nothing")
	}
}

// killSite is what the daemon drives meanwhile. Everything else that is imported
// lies on buses that are not opened.
const killSite = `
site: {name: Kill}
buses: [{name: live, driver: modbus, port: "tcp://127.0.0.1:0"}]
nodes:
  - {name: Live one, bus: live, address: 1, profile: wirenboard-wb-mdm3}
  - {name: Live two, bus: live, address: 2, profile: waveshare-relay-8ch}
`

// killing is the state of the campaign.
type killing struct {
	*house
	desk  *desk
	dice  *rand.Rand
	books *books

	unsure    []growth // cut short and not there, since something was committed last
	daemon    *served
	token     string        // survives restarts, as the secret behind it does
	span      time.Duration // of one import
	quit      chan struct{}
	commander sync.WaitGroup
	door      atomic.Pointer[served]

	count                           int // of files written, for names
	kills, daemonKills, importKills int
	imports, reported, starts       int
	commands, confirmed             atomic.Int64
}

// round starts what is not running, and kills some of it.
func (c *killing) round() {
	c.startDaemon()
	file, entry := c.growth()
	args := []string{"site", "import", "--json", file}
	if entry.replace {
		args = append(args, "--replace")
	}
	importing := c.begin(args...)
	c.imports++
	moment := time.Duration(c.dice.Int64N(int64(c.span)))
	switch c.dice.IntN(5) {
	case 0: // the daemon alone
		c.pass(moment, time.Now())
		c.killDaemon()
		importing.wait()
	case 1: // both, one shortly after the other
		c.pass(moment, time.Now())
		c.killImport(importing)
		c.killDaemon()
	default: // the import alone, most often: it is what makes IDs
		c.pass(moment, time.Now())
		c.killImport(importing)
	}
	report, complete := importing.report()
	if complete {
		c.reported++
		c.replaced(report)
		c.books.promise(report)
	}
	c.verifyImport(entry, complete)
}

// calibrate finds out how long an import takes beside a running daemon.
func (c *killing) calibrate() {
	c.startDaemon()
	var took []time.Duration
	for range 5 {
		file, entry := c.growth()
		began := time.Now()
		importing := c.begin("site", "import", "--json", file)
		importing.wait()
		took = append(took, time.Since(began))
		report, complete := importing.report()
		if !complete {
			c.t.Fatalf("an import told nothing: %s", importing.out.String())
		}
		c.books.promise(report)
		entry.replace = false
		c.verifyImport(entry, true)
	}
	slices.Sort(took)
	c.span = took[len(took)/2]
}

func (c *killing) killDaemon() {
	c.daemon.kill()
	c.daemon = nil
	c.kills++
	c.daemonKills++
}

// killImport counts only if it was not over already.
func (c *killing) killImport(b *begun) {
	select {
	case <-b.ended:
	default:
		b.kill()
		c.kills++
		c.importKills++
	}
}

func (c *killing) startDaemon() {
	if c.daemon != nil {
		return
	}
	c.starts++
	c.daemon = c.desk.serve()
	c.url, c.client = c.daemon.url, c.daemon.client
	if c.token == "" {
		c.token, _ = c.house.token("operator", housePassword)
		c.quit = make(chan struct{})
		c.door.Store(c.daemon)
		c.commander.Go(c.command)
		return
	}
	if got := c.read(c.token); got != http.StatusOK {
		c.t.Errorf("a token from before the kill is answered with %d", got)
	}
	c.door.Store(c.daemon)
}

// command commands lights until the campaign is over, whatever becomes of it.
func (c *killing) command() {
	for n := 0; ; n++ {
		select {
		case <-c.quit:
			return
		case <-time.After(5 * time.Millisecond):
		}
		d := c.door.Load()
		body := fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`, 1+n%2, n%101)
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, d.url+channelControl, strings.NewReader(body))
		if err != nil {
			c.t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+c.token)
		c.commands.Add(1)
		res, err := d.client.Do(req)
		if err != nil {
			continue // it was killed
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if bytes.HasPrefix(answer, []byte(`{"status":1`)) {
			c.confirmed.Add(1)
		}
	}
}

// growth is one more site file.
type growth struct {
	replace bool
	first   string // name of its first new node
	mention map[string]bool
}

// growth writes a file with new nodes, shades and a cluster, none with an ID. One
// in four takes the place of everything but the live bus.
func (c *killing) growth() (path string, g growth) {
	c.count++
	n := c.count
	g = growth{replace: c.dice.IntN(4) == 0, first: fmt.Sprintf("Light %d", n), mention: map[string]bool{}}
	text := strings.Replace(killSite, "tcp://127.0.0.1:0", c.building.Port("live"), 1)
	text = strings.Replace(text, "nodes:\n", fmt.Sprintf(`  - {name: paper %d, driver: modbus, port: "tcp://127.0.0.1:%d", disabled: true}
nodes:
  - {name: Light %[1]d, bus: paper %[1]d, address: 1, profile: wirenboard-wb-mdm3}
  - {name: Lamp %[1]d, bus: paper %[1]d, address: 2, profile: wirenboard-wb-mao4}
  - {name: Motors %[1]d, bus: paper %[1]d, address: 3, profile: wirenboard-wb-mr6c}
`, n, 20000+n), 1)
	text = strings.Replace(text, `buses: [{name: live, driver: modbus, port: "`+c.building.Port("live")+`"}]`, `buses:
  - {name: live, driver: modbus, port: "`+c.building.Port("live")+`"}`, 1)
	text += fmt.Sprintf(`shades:
  - {name: East %d, node: Motors %[1]d, output: 1, travelUp: 20s, travelDown: 20s}
  - {name: West %[1]d, node: Motors %[1]d, output: 2, travelUp: 20s, travelDown: 20s}
clusters:
  - {name: Room %[1]d, nodes: [Light %[1]d, Lamp %[1]d], shades: [East %[1]d, West %[1]d]}
`, n)
	site, err := sitefile.Parse("growth", []byte(text))
	if err != nil {
		c.t.Fatalf("%v in\n%s", err, text)
	}
	for k := range names(site) {
		g.mention[k] = true
	}
	return c.desk.write("growth.yaml", text), g
}

// verifyImport checks the books and that the import was taken over whole or not at
// all. What a --replace retired is known then.
func (c *killing) verifyImport(g growth, reported bool) {
	site := c.verify()
	have := names(site)
	c.surfaced(have, g)
	there := g.there(have)
	switch {
	case there != 0 && there != len(g.mention)-alwaysThere:
		c.t.Errorf("import of %q: %d of its %d new entries are there, want all or nothing", g.first, there, len(g.mention)-alwaysThere)
	case there == 0 && reported:
		c.t.Errorf("import of %q was reported, and is not there", g.first)
	case there == 0:
		c.unsure = append(c.unsure, g)
	case there > 0:
		c.unsure = nil
		if !reported {
			c.books.tookEffect++
		}
		if g.replace {
			c.books.retire(g.mention)
		}
	}
	c.books.check(site)
	if c.t.Failed() {
		c.t.Logf("import of %q, replacing: %t, reported: %t; the site has: %v", g.first, g.replace, reported, have)
	}
}

// surfaced finds imports that were killed before their report and seemed not to be
// there, and now are. SQLite allows that: a commit that is complete in the log, but
// was not yet entered in the shared index when its process died, is found when the
// log is read from its beginning, which is when nobody has the database open any
// more. It can only be one after which nothing was committed.
// What came after it stays.
func (c *killing) surfaced(have map[string]appliance.ID, after growth) {
	for _, g := range c.unsure {
		if g.there(have) == len(g.mention)-alwaysThere {
			c.books.surfaced++
			c.unsure = nil
			if g.replace {
				maps.Copy(g.mention, after.mention)
				c.books.retire(g.mention)
			}
			return
		}
	}
}

// replaced finds one that surfaced and was retired by the very next import: the report
// of that one is all that was ever seen of it.
func (c *killing) replaced(report api.SiteReport) {
	for _, g := range c.unsure {
		if !slices.ContainsFunc(report.Retired, func(it api.SiteItem) bool { return it.Name == g.first }) {
			continue
		}
		for _, it := range report.Retired {
			if g.mention[it.Family+" "+it.Name] {
				n, id := c.books.noun(it)
				c.books.see(n, id, it.Name)
			}
		}
		c.books.surfaced++
		c.unsure = nil
		return
	}
}

// alwaysThere are the nodes of the live bus, which every import mentions.
const alwaysThere = 2

// there counts its new entries in a site.
func (g growth) there(have map[string]appliance.ID) (n int) {
	for k := range g.mention {
		if _, ok := have[k]; ok {
			n++
		}
	}
	return n - alwaysThere
}

// verify opens the database as a technician would, and looks into it.
func (c *killing) verify() appliance.Site {
	c.t.Helper()
	site := c.export()
	c.books.look(site)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.dataDir, "controller.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		c.t.Errorf("integrity check: %s %v", verdict, err)
	}
	rows, err := db.Query("SELECT family, high FROM mark")
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var family string
		var high int64
		if err := rows.Scan(&family, &high); err != nil {
			c.t.Fatal(err)
		}
		if high < c.books.marks[family] {
			c.t.Errorf("the counter of %s went back from %d to %d", family, c.books.marks[family], high)
		}
		c.books.marks[family] = high
	}
	if len(c.books.marks) < 3 {
		c.t.Error("no counters found")
	}
	return site
}

func (c *killing) export() appliance.Site {
	c.t.Helper()
	site, err := sitefile.Parse("export", []byte(c.desk.must("site", "export")))
	if err != nil {
		c.t.Fatalf("what was exported cannot be read: %v", err)
	}
	return site
}

// begun is an import in a process of its own.
type begun struct {
	served
	out bytes.Buffer
}

func (c *killing) begin(args ...string) *begun {
	c.t.Helper()
	b := &begun{served: served{t: c.t, ended: make(chan struct{})}}
	b.cmd = c.desk.command(context.Background(), args...)
	b.cmd.Stdout = &b.out
	if err := b.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() { defer close(b.ended); b.cmd.Wait() }()
	c.t.Cleanup(b.kill)
	return b
}

func (b *begun) wait() {
	select {
	case <-b.ended:
	case <-time.After(uitest.Patience):
		b.t.Fatal("an import hangs")
	}
	if code := b.cmd.ProcessState.ExitCode(); code != 0 {
		b.t.Errorf("an import nobody killed ended with %d", code)
	}
}

// report is what it told before it ended, if it told all of it.
func (b *begun) report() (r api.SiteReport, complete bool) {
	return r, json.Unmarshal(b.out.Bytes(), &r) == nil
}
