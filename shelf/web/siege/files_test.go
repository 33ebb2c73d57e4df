package siege

import (
	"archive/tar"
	"bytes"
	"testing"
)

// What is sent has to be read as what it says, or it attacks nothing.
func TestSparseBackupIsReadAsLarge(t *testing.T) {
	data := SparseBackup()
	h, err := tar.NewReader(bytes.NewReader(data[len(backupMagic):])).Next()
	if err != nil || h.Name != "database" || h.Size != 100<<30 || len(data) > 62<<10 {
		t.Errorf("%d bytes hold %+v, %v", len(data), h, err)
	}
}
