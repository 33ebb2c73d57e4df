package siege

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Party is everybody who attacks at once.
type Party struct {
	Door       Door
	Handshakes int // places that begin connections without end; 0: none
	Requests   []Request
	Old        *OldController
	Flood      *Flood
}

// partyVar in the environment of a test binary names the file of the party that it is, see [Main].
const partyVar = "BE_A_SIEGE"

// Begin lets the party go in a process of its own, which gives way to all others: what is
// measured beside it is the daemon, not who attacks it. [Main] is to be called first by the
// TestMain of the package. End ends it and returns what came of each attack.
func Begin(t testing.TB, p Party) (end func() Counts) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "party")
	text, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command("nice", "-n", "19", os.Args[0])
	cmd.Env = append(os.Environ(), partyVar+"="+file)
	cmd.Stdout, cmd.Stderr = &out, &errs
	leash, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("begin an attack: %v", err)
	}
	end = sync.OnceValue(func() (came Counts) {
		leash.Close()
		if err := errors.Join(cmd.Wait(), json.Unmarshal(out.Bytes(), &came)); err != nil {
			t.Errorf("the attack: %v: %s", err, errs.Bytes())
		}
		return came
	})
	t.Cleanup(func() { end() })
	return end
}

// Main attacks until its standard input ends and something of each attack has come to the daemon, if this process was made for that by [Begin],
// prints the counts and ends the process. Else it does nothing.
func Main() {
	file := os.Getenv(partyVar)
	if file == "" {
		return
	}
	var p Party
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, cancel := context.WithCancel(context.Background())
	count := p.attack(ctx)
	_, _ = io.Copy(io.Discard, os.Stdin)
	count.await(ctx)
	cancel() // what comes now is not counted; the end of the process hangs up
	count.mu.Lock()
	defer count.mu.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(count.all); err != nil {
		os.Exit(2)
	}
	os.Exit(0)
}

// Addresses of this machine that attacks come from: what a network may do is counted for each,
// and whoever is honest comes from 127.0.0.1.
const (
	strangers = "127.0.0.2"
	beginners = "127.0.0.3"
	holders   = "127.0.0.4"
	known     = "127.0.0.5"
)

func (d Door) from(address string) Door {
	d.address = address
	return d
}

// attack begins to do everything at once, until ctx ends.
func (p Party) attack(ctx context.Context) *counts {
	count := &counts{all: Counts{}}
	go p.Door.from(strangers).Attack(ctx)
	if p.Handshakes > 0 {
		go p.Door.from(beginners).Handshakes(ctx, p.Handshakes)
	}
	for _, r := range p.Requests {
		d := p.Door.from(known)
		if r.Unread > 0 {
			d = p.Door.from(holders)
		}
		for range max(1, r.Places) {
			go d.again(ctx, r, count)
		}
	}
	if p.Old != nil {
		go p.Old.read(ctx, p.Door.from(known), count)
	}
	if p.Flood != nil {
		go p.Flood.run(ctx, count)
	}
	return count
}
