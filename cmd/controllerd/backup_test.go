package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEncryptedBackupByHand(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("site", "import", d.write("site.yaml", "site: {name: House}\nnodes:\n  - {id: 7, name: Lamp}\nclusters:\n  - {id: 3, name: Hall, nodes: [7]}\n"))
	site := d.must("site", "export")
	phrase := d.write("phrase", "correct horse\n")
	file := filepath.Join(t.TempDir(), "house.age")
	d.must("backup", file, "--passphrase-file", phrase)
	blank := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "blank")}
	for _, c := range []struct {
		name, input string
		args        []string
		code        int
		want        string
	}{
		{"an empty passphrase", "\n", []string{"backup", file + "2", "--passphrase-file", "-"}, 2, "is empty"},
		{"no passphrase file", "", []string{"backup", file + "2", "--passphrase-file", file + ".none"}, 1, "read the passphrase: open " + file + ".none: no such file"},
		{"no passphrase", "", []string{"restore", file}, 1, "is encrypted"},
		{"an empty one for an encrypted file", "\n", []string{"restore", file, "--passphrase-file", "-"}, 2, "is empty"},
		{"a wrong one", "horse\n", []string{"restore", file, "--passphrase-file", "-"}, 1, "passphrase is wrong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := blank.typed(c.input, c.args...); got.code != c.code || !strings.Contains(got.err, c.want) {
				t.Errorf("exit code %d, said %s", got.code, got.err)
			}
		})
	}
	if _, err := os.Stat(blank.dataDir); err == nil {
		t.Error("refused restores made a data directory")
	}
	if out := blank.must("restore", "--drill", file, "--passphrase-file", phrase); !strings.Contains(out, "clusters         1\n") || !strings.Contains(out, "can be restored") {
		t.Errorf("the drill said %s", out)
	}
	if _, err := os.Stat(blank.dataDir); err == nil {
		t.Error("a drill made a data directory")
	}
	blank.must("restore", file, "--passphrase-file", phrase)
	if got := blank.must("site", "export"); got != site {
		t.Errorf("restored\n%s\nwant\n%s", got, site)
	}
}
