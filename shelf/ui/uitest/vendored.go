package uitest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
)

// CheckVendored compares the libraries in a folder with its file VERSIONS, which names each with its hash, and a licence for each
// package. It gives what is wrong.
func CheckVendored(files fs.FS) (wrong []string) {
	list, err := fs.ReadFile(files, "VERSIONS")
	if err != nil {
		return []string{err.Error()}
	}
	named := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n")[1:] {
		cells := strings.Split(line, " | ")
		named[cells[0]] = cells[4]
		licence := cells[1][strings.LastIndex(cells[1], "/")+1:] + ".LICENSE"
		if _, err := fs.Stat(files, licence); err != nil {
			wrong = append(wrong, fmt.Sprintf("the licence of %s is missing: %v", cells[1], err))
		}
	}
	scripts, err := fs.Glob(files, "*.js")
	sheets, _ := fs.Glob(files, "*.css") // only a pattern could be wrong
	scripts = append(scripts, sheets...)
	if err != nil || len(scripts) != len(named) || len(scripts) == 0 {
		return append(wrong, fmt.Sprintf("files are %v, VERSIONS names %d (%v)", scripts, len(named), err))
	}
	for _, name := range scripts {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return append(wrong, err.Error())
		}
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:]); got != named[name] {
			wrong = append(wrong, fmt.Sprintf("%s has the hash %s, VERSIONS says %s: run vendor.sh, do not edit", name, got, named[name]))
		}
	}
	return wrong
}
