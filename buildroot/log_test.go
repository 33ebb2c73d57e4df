package buildroot

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFloodOfWarningsStaysSmall has a journal that is flooded between two looks, again and again: little of it is kept, all of it is
// read, so that nothing is told twice, and the note of what was left out is there.
func TestAFloodOfWarningsStaysSmall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("board/common/overlay/usr/lib/appliance/keep-warnings")
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "kept")
	write("keep-warnings", strings.ReplaceAll(string(script), "/var/log/appliance", kept))
	// As journalctl does, it notes how far it came only once all is written.
	write("bin/journalctl", "#!/bin/sh\ncat "+dir+"/journal && : >"+dir+"/journal\n")
	look := func() {
		t.Helper()
		c := exec.Command(filepath.Join(dir, "keep-warnings"))
		c.Env = append(os.Environ(), "PATH="+dir+"/bin:"+os.Getenv("PATH"))
		if out, err := c.CombinedOutput(); err != nil {
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
	write("journal", "a warning\n")
	look()
	look()
	if got := string(all()); got != "a warning\n" {
		t.Errorf("of one warning is kept %q", got)
	}
	flood := strings.Repeat(strings.Repeat("x", 999)+"\n", 10_000)
	for n := range 12 {
		write("journal", flood)
		look()
		if left, err := os.ReadFile(filepath.Join(dir, "journal")); err != nil || len(left) > 0 {
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
