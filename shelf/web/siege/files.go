package siege

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// backupMagic is how every backup begins.
const backupMagic = "controllerd backup 1\n"

// SparseBackup is a backup of a few kilobytes whose checksum is right and whose first entry
// has a size of 100 GB, nearly all of it a hole (sparse, in the old form of GNU tar).
func SparseBackup() []byte {
	const size, head = 100 << 30, 512
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	_ = t.WriteHeader(&tar.Header{Name: "database", Size: head, Mode: 0o600, Format: tar.FormatGNU}) // into memory
	_, _ = t.Write(make([]byte, head))
	_ = t.Close()
	h := b.Bytes()[:head]
	h[156] = 'S' // a sparse file: pieces of it from byte 386, its size at 483
	copy(h[386:], fmt.Sprintf("%011o\x00%011o\x00", 0, head))
	large(h[410:422], size)
	copy(h[422:], fmt.Sprintf("%011o\x00", 0))
	large(h[483:495], size)
	copy(h[148:156], "        ")
	sum := 0
	for _, v := range h {
		sum += int(v)
	}
	copy(h[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return sealed(b.Bytes())
}

// large writes a number that has no room in octal digits.
func large(field []byte, n uint64) {
	clear(field)
	field[0] = 0x80
	binary.BigEndian.PutUint64(field[len(field)-8:], n)
}

// LargeBackup is a backup of that many bytes whose checksum is right, and which is nothing.
func LargeBackup(size int) []byte {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	_ = t.WriteHeader(&tar.Header{Name: "database", Size: int64(size), Mode: 0o600, Format: tar.FormatPAX}) // into memory
	_, _ = t.Write(make([]byte, size))
	_ = t.Close()
	return sealed(b.Bytes())
}

func sealed(entries []byte) []byte {
	all := append([]byte(backupMagic), entries...)
	sum := sha256.Sum256(all)
	return append(all, sum[:]...)
}

// EmptyNodes is a site file of about that many bytes: one list of nodes of which nothing is said.
func EmptyNodes(size int) []byte {
	return []byte("site: {name: x}\nnodes: [" + strings.Repeat("{},", size/3) + "{}]\n")
}

// Aliases is a site file of a few lines that stands for 10^9 nodes.
func Aliases() []byte {
	text := "site: {name: x}\na0: &a0 [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}]\n"
	for i := 1; i < 9; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return []byte(text + "nodes: *a8\n")
}
