package buildroot

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFloodOfWarningsStaysSmall has a journal that is flooded between two looks, again and again: little of it is kept, all of it is
// read, so that nothing is told twice, and the note of what was left out is there.
func TestAFloodOfWarningsStaysSmall(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	kept := filepath.Join(s.dir, "kept")
	s.script("usr/lib/appliance/keep-warnings", "keep-warnings", "/var/log/appliance", kept)
	// As journalctl does, it notes how far it came only once all is written.
	s.put("bin/journalctl", "#!/bin/sh\ncat "+s.dir+"/journal && : >"+s.dir+"/journal\n")
	look := func() {
		t.Helper()
		if out, err := s.command("keep-warnings").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	all := func() (text []byte) {
		t.Helper()
		for _, name := range []string{"warnings.old", "warnings"} {
			b, err := os.ReadFile(filepath.Join(kept, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			text = append(text, b...)
		}
		return text
	}
	s.put("journal", "a warning\n")
	look()
	look()
	if got := string(all()); got != "a warning\n" {
		t.Errorf("of one warning is kept %q", got)
	}
	flood := strings.Repeat(strings.Repeat("x", 999)+"\n", 10_000)
	for n := range 12 {
		s.put("journal", flood)
		look()
		if left, err := os.ReadFile(filepath.Join(s.dir, "journal")); err != nil || len(left) > 0 {
			t.Fatalf("%d bytes are told again the next time: %v", len(left), err)
		}
		if size := len(all()); size < 128<<10 || size > 5<<18 {
			t.Fatalf("after %d floods of 10 MB %d bytes are kept, want 131,072 to 1,310,720", n+1, size)
		}
	}
	if !bytes.Contains(all(), []byte("\n9868928 bytes more were left out\n")) {
		t.Error("nothing tells what was left out")
	}
}
