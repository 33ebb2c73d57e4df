package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// crashDir tells a re-executed test binary to be the child of the campaign.
const crashDir = "STORE_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := crashChild(dir); err != nil {
			fmt.Println("error", err)
		}
		os.Exit(1) // it works until it is killed
	}
	if os.Getenv(killedVerb) != "" {
		if err := killedChild(); err != nil {
			fmt.Println("error", err)
		}
		os.Exit(1)
	}
	os.Exit(inMemory(m.Run))
}

// inMemory has the databases of the tests where they wait for no disk, if this machine has such a place with a gigabyte
// to spare. They ask for their syncs all the same; who is killed loses nothing on a disk that goes on either.
func inMemory(run func() int) int {
	const memory = "/dev/shm"
	var room syscall.Statfs_t
	if syscall.Statfs(memory, &room) != nil || room.Bavail*uint64(room.Bsize) < 1<<30 {
		return run()
	}
	if dir, err := os.MkdirTemp(memory, "store-test-"); err == nil {
		defer os.RemoveAll(dir)
		os.Setenv("TMPDIR", dir)
	}
	return run()
}

// crashChild changes the database as fast as it can and says on standard output
// what it was told is done, one line each.
func crashChild(dir string) error {
	ctx := context.Background()
	s, err := Open(ctx, dir, quiet())
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(rand.Uint64(), 1))
	fmt.Println("ready")
	for n := 0; ; n++ {
		var r Report
		var err error
		switch random.IntN(8) {
		case 0:
			r, err = retireSome(ctx, s, random)
		case 1:
			err = crashKey(ctx, s)
		case 2, 3, 4:
			err = crashBatch(ctx, s)
		default:
			r, err = addSome(ctx, s, random)
		}
		if err != nil {
			return err
		}
		crashReport(r)
	}
}

// addSome imports new nodes, a shade and a cluster without IDs.
func addSome(ctx context.Context, s *Store, random *rand.Rand) (Report, error) {
	tag := appliance.NewUUID().String()
	bus := appliance.UUID{15: 1}
	in := appliance.Site{Buses: []appliance.Bus{{UUID: bus, Name: "bus", Driver: "modbus"}}}
	for i := range 1 + random.IntN(5) {
		in.Nodes = append(in.Nodes, appliance.Node{ID: appliance.ID(-1 - i), Name: fmt.Sprint(tag, "-", i), Bus: bus, Address: fmt.Sprint(tag, i)})
	}
	in.Shades = []appliance.Shade{{ID: -1, Name: tag, Node: -1, Output: 1}}
	in.Clusters = []appliance.Cluster{{Name: tag, Nodes: []appliance.ID{-1}, Shades: []appliance.ID{-1}}}
	return s.Import(ctx, in, ImportOptions{By: "campaign"})
}

// retireSome retires about a third of the site.
func retireSome(ctx context.Context, s *Store, random *rand.Rand) (Report, error) {
	site, _, err := s.Site(ctx)
	if err != nil {
		return Report{}, err
	}
	keep := map[appliance.ID]bool{}
	in := site
	in.Nodes, in.Shades, in.Clusters = nil, nil, nil
	for _, n := range site.Nodes {
		if random.IntN(3) > 0 {
			keep[n.ID] = true
			in.Nodes = append(in.Nodes, n)
		}
	}
	for _, h := range site.Shades {
		if keep[h.Node] {
			in.Shades = append(in.Shades, h)
		}
	}
	return s.Import(ctx, in, ImportOptions{Replace: true, By: "campaign"})
}

func crashReport(r Report) {
	var out strings.Builder
	for _, item := range r.Created {
		fmt.Fprintln(&out, "created", item.Family, item.ID, item.UUID)
	}
	for _, item := range r.Retired {
		fmt.Fprintln(&out, "retired", item.Family, item.ID, item.UUID)
	}
	os.Stdout.WriteString(out.String())
}

func crashKey(ctx context.Context, s *Store) error {
	if len(s.Keys()) > maxKeys/2 {
		return nil
	}
	_, key, err := s.AddKey(ctx, appliance.NewUUID().String(), true)
	if err == nil {
		fmt.Println("key", key.UUID)
	}
	return err
}

func crashBatch(ctx context.Context, s *Store) error {
	b := someBatch(rand.IntN(1000))
	b.Entries[0].ID = fmt.Sprintf("%020d", time.Now().UnixNano())
	err := s.SaveBatch(ctx, b)
	if err == nil {
		fmt.Println("entry", b.Entries[0].ID)
	}
	return err
}

// crashHistory is what the campaign knows of all IDs ever seen.
type crashHistory struct {
	uuid    map[Family]map[appliance.ID]string
	retired map[Family]map[appliance.ID]bool
	entries int
}

func newHistory() *crashHistory {
	h := &crashHistory{uuid: map[Family]map[appliance.ID]string{}, retired: map[Family]map[appliance.ID]bool{}}
	for _, f := range families {
		h.uuid[f], h.retired[f] = map[appliance.ID]string{}, map[appliance.ID]bool{}
	}
	return h
}

// TestKillAtAnyMoment kills a process that changes the database at random
// moments. Whatever it reported must be there, under the ID it had; no ID may
// ever name anything else. SOAK=1 kills 1,000 times.
func TestKillAtAnyMoment(t *testing.T) {
	kills := 25
	if os.Getenv("SOAK") == "1" {
		kills = 1000
	}
	dir := t.TempDir()
	h := newHistory()
	start := time.Now()
	lines := 0
	for n := range kills {
		told := runAndKill(t, dir, rand.IntN(60), time.Duration(rand.Int64N(int64(5*time.Millisecond))))
		lines += len(told)
		if n%5 == 0 {
			h.checkTornLog(t, dir)
		}
		h.check(t, dir, told)
		if t.Failed() {
			t.Fatalf("after kill %d", n+1)
		}
	}
	t.Logf("%d kills in %v (%v each), %d reports, IDs ever used: %d nodes, %d shades, %d clusters; %d ledger entries",
		kills, time.Since(start).Round(time.Millisecond), (time.Since(start) / time.Duration(kills)).Round(time.Millisecond), lines,
		len(h.uuid[Nodes]), len(h.uuid[Shades]), len(h.uuid[Clusters]), h.entries)
	if len(h.uuid[Nodes]) < kills/5 || h.entries < kills/5 {
		t.Errorf("the children did too little to prove anything")
	}
}

// runAndKill starts the child, kills it some time after so many reports and returns
// what it reported.
func runAndKill(t *testing.T, dir string, reports int, after time.Duration) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	guard := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	defer guard.Stop()
	r := bufio.NewReader(out)
	if first, err := r.ReadString('\n'); first != "ready\n" {
		cmd.Process.Kill()
		t.Fatalf("the child says %q (%v), want ready", first, err)
	}
	var said strings.Builder
	for range reports {
		line, err := r.ReadString('\n')
		if said.WriteString(line); err != nil {
			t.Fatalf("the child ended before it was killed (%v), after\n%s", err, said.String())
		}
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := io.Copy(&said, r); err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(said.String()) {
		if !strings.HasSuffix(line, "\n") {
			continue // killed while reporting
		}
		if strings.HasPrefix(line, "error") {
			t.Fatalf("the child says %s", line)
		}
		told = append(told, strings.TrimSpace(line))
	}
	return told
}

// check opens the database and compares it with everything ever seen.
func (h *crashHistory) check(t *testing.T, dir string, told []string) {
	t.Helper()
	s, err := Open(context.Background(), dir, quiet())
	if err != nil {
		t.Fatalf("open after a kill: %v", err)
	}
	defer s.Close()
	var verdict string
	if err := s.db.Load().read.QueryRow("PRAGMA integrity_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity after a kill: %s (%v)", verdict, err)
	}
	load(t, s)
	live, known := h.compare(t, s)
	for _, line := range told {
		var word, f, uuid string
		var id appliance.ID
		fmt.Sscan(line, &word, &f, &id, &uuid)
		family := Family(f)
		switch {
		case word == "entry":
			h.entries++
			if !has(t, s, "SELECT count(*) FROM entry WHERE id = ?", f) {
				t.Errorf("ledger entry %s was lost", f)
			}
		case word == "key":
			if _, ok := findKey(s, f); !ok {
				t.Errorf("key %s was lost", f)
			}
		case word == "created" && family != Buses:
			if known[family][id] != uuid {
				t.Errorf("%s %d was reported as %s and is %q", family, id, uuid, known[family][id])
			}
		case word == "retired" && family != Buses:
			h.retired[family][id] = true
		}
	}
	for _, f := range families {
		for id := range h.retired[f] {
			if live[f][id] {
				t.Errorf("%s %d was retired and lives", f, id)
			}
		}
	}
}

// compare checks every ID in the database against the history, and the history
// against the database, then adds what is new.
func (h *crashHistory) compare(t *testing.T, s *Store) (live map[Family]map[appliance.ID]bool, known map[Family]map[appliance.ID]string) {
	t.Helper()
	live, known = map[Family]map[appliance.ID]bool{}, map[Family]map[appliance.ID]string{}
	for _, f := range families {
		x := idsOf(t, s, f)
		live[f], known[f] = map[appliance.ID]bool{}, map[appliance.ID]string{}
		for id, n := range x.retired {
			known[f][id] = n.UUID.String()
		}
		for id, n := range x.live {
			if _, dead := x.retired[id]; dead {
				t.Errorf("%s %d lives and is retired", f, id)
			}
			live[f][id], known[f][id] = true, n.UUID.String()
		}
		for id, uuid := range known[f] {
			if id > x.mark {
				t.Errorf("%s %d lies above the high-water mark %d", f, id, x.mark)
			}
			if was, seen := h.uuid[f][id]; seen && was != uuid {
				t.Errorf("%s %d was %s and is %s", f, id, was, uuid)
			}
		}
		for id := range h.uuid[f] {
			if _, ok := known[f][id]; !ok {
				t.Errorf("%s %d was lost", f, id)
			}
		}
		h.uuid[f] = known[f]
	}
	return live, known
}

// checkTornLog opens a copy whose log ends at a random place, as a power cut
// leaves it: it must open, and no ID may name anything else than before.
func (h *crashHistory) checkTornLog(t *testing.T, dir string) {
	t.Helper()
	torn := t.TempDir()
	if err := copyFile(filepath.Join(dir, databaseFile), filepath.Join(torn, databaseFile)); err != nil {
		t.Fatal(err)
	}
	log := readFile(t, filepath.Join(dir, databaseFile+"-wal"))
	cut := log[:rand.IntN(len(log)+1)]
	if err := os.WriteFile(filepath.Join(torn, databaseFile+"-wal"), []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), torn, quiet())
	if err != nil {
		t.Fatalf("open with a torn log: %v", err)
	}
	defer s.Close()
	var verdict string
	if err := s.db.Load().read.QueryRow("PRAGMA integrity_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity with a torn log: %s (%v)", verdict, err)
	}
	load(t, s)
	for _, f := range families {
		x := idsOf(t, s, f)
		for _, m := range []map[appliance.ID]noun{x.live, x.retired} {
			for id, n := range m {
				if was, seen := h.uuid[f][id]; seen && was != n.UUID.String() {
					t.Errorf("with a torn log %s %d is %s, was %s", f, id, n.UUID, was)
				}
			}
		}
	}
}

func idsOf(t *testing.T, s *Store, f Family) *ids {
	t.Helper()
	tx, err := s.db.Load().read.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	x, err := loadIDs(context.Background(), tx, f)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func findKey(s *Store, uuid string) (account.Key, bool) {
	for _, k := range s.Keys() {
		if k.UUID.String() == uuid {
			return k, true
		}
	}
	return account.Key{}, false
}

func has(t *testing.T, s *Store, query string, args ...any) bool {
	t.Helper()
	var n int
	if err := s.db.Load().read.QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}
