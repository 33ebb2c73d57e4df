//go:build peers

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/shelf/account"
)

// What a script of an integrator does with each of the clients in docs/clients: the same in both languages.
const (
	pythonScript = `
import os, sys
sys.path.insert(0, "../../docs/clients")
from controller import Controller, Refused
url, ca, user, password, key = sys.argv[1:]
house = Controller(url, ca, username=user, password=password)
assert [c["id"] for c in house.clusters()] == [4]
level = lambda: {n["id"]: n["dimLevel"] for n in house.nodes()}[3]
house.dim(40, node=3)
assert level() == 40, level()
before = house.levels()
assert before and house.levels() == before
house.shade("DOWN", cluster=4)
house.wait(5001); house.wait(5002)
house.shade(50, shade=5001)
at = house.wait(5001)
assert 35 <= at <= 65, at
house._token = "expired"
assert len(house.shades(cluster=4)) == 2
for wrong, says in ((lambda: house.dim(140, node=3), "dimLevel"), (lambda: house.dim(40, node=99), ""), (lambda: Controller(url, ca, username=user, password="wrong").shades(), "wrong name or password")):
    try:
        wrong()
    except Refused as e:
        assert says in str(e), e
    else:
        raise AssertionError("not refused: " + says)
reads = Controller(url, ca, key=key)
assert len(reads.shades()) == 2
print("all done")
`
	nodeScript = `
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { Controller, Refused } from '../../docs/clients/controller.mjs';
const [url, ca, username, password, key] = process.argv.slice(1);
const house = new Controller(url, readFileSync(ca), { username, password });
assert.deepEqual((await house.clusters()).map((c) => c.id), [4]);
await house.dim(40, { node: 3 });
assert.equal((await house.nodes()).find((n) => n.id === 3).dimLevel, 40);
const before = await house.levels();
assert.ok(before.length); assert.deepEqual(await house.levels(), before);
await house.shade('DOWN', { cluster: 4 });
await house.wait(5001); await house.wait(5002);
await house.shade(50, { shade: 5001 });
const at = await house.wait(5001);
assert.ok(at >= 35 && at <= 65, String(at));
assert.equal((await house.shades(4)).length, 2);
await assert.rejects(() => house.dim(140, { node: 3 }), (e) => e instanceof Refused && e.message.includes('dimLevel'));
await assert.rejects(() => house.dim(40, { node: 99 }), Refused);
const wrong = new Controller(url, readFileSync(ca), { username, password: 'wrong' });
await assert.rejects(() => wrong.shades(), (e) => e.message.includes('wrong name or password'));
const reads = new Controller(url, readFileSync(ca), { key });
assert.equal((await reads.shades()).length, 2);
for (const one of [house, wrong, reads]) one.close();
console.log('all done');
`
)

// TestClientsOfIntegrators runs the Python and the JavaScript client of the documentation as they stand: as modules of a script that
// commands and waits, and as programs that list what there is.
func TestClientsOfIntegrators(t *testing.T) {
	t.Parallel()
	site := strings.NewReplacer("travelUp: 20s, travelDown: 20s", "travelUp: 6s, travelDown: 6s", "travelUp: 10s, travelDown: 10s", "travelUp: 6s, travelDown: 6s",
		"  - {id: 2, name: Gone, bus: relays, address: 3, profile: wirenboard-wb-mr6c}\n", "", "  - {id: 5003, name: Attic, node: 2, output: 1, travelUp: 10s, travelDown: 10s}\n", "",
	).Replace(verbsSite)
	h := newHouse(t, patient(site))
	h.awaitOnline()
	ca := filepath.Join(h.dataDir, certificateFile)
	key := strings.TrimSpace(h.desk().must("key", "add", "lists"))
	for name, c := range map[string]struct{ module, program []string }{
		"Python":     {[]string{"python3", "-c", pythonScript}, []string{"python3", "../../docs/clients/controller.py"}},
		"JavaScript": {[]string{"node", "--input-type=module", "-e", nodeScript, "--"}, []string{"node", "../../docs/clients/controller.mjs"}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		for tries := 1; ; tries++ { // a busy machine may not do what one of its commands asks for in time
			script := exec.CommandContext(ctx, c.module[0], append(c.module[1:], h.url, ca, string(account.RoleAPIService), housePassword, key)...)
			out, err := script.CombinedOutput()
			if err == nil && strings.HasSuffix(string(out), "all done\n") {
				break
			}
			if t.Logf("%s: %v\n%s", name, err, out); tries == 3 {
				t.Errorf("%s failed three times", name)
				break
			}
		}
		lists := exec.CommandContext(ctx, c.program[0], c.program[1:]...)
		lists.Env = append(os.Environ(), "CONTROLLER_URL="+h.url, "CONTROLLER_CA="+ca, "CONTROLLER_KEY="+key)
		out, err := lists.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "South") || !strings.Contains(string(out), "Lamp") || !strings.Contains(string(out), "Facade") {
			t.Errorf("%s, alone: %v\n%s", name, err, out)
		}
	}
}
