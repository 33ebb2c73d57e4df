package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"filippo.io/age"
)

// Most a backup may have: a building's is a few megabytes.
const Most = 1 << 30

// Errors of reading.
var (
	ErrNotOne        = errors.New("the file is not a backup of a controller")
	ErrDamaged       = errors.New("the backup is damaged")
	ErrEncrypted     = errors.New("the backup is encrypted; its passphrase is needed")
	ErrNotEncrypted  = errors.New("the backup is not encrypted, but a passphrase was given: is it the right file?")
	ErrWrongPassword = errors.New("the passphrase is wrong, or the backup is damaged")
)

const ageHeader = "age-encryption.org/v1\n"

// Encrypted reports whether a file that begins so is encrypted.
func Encrypted(head []byte) bool { return bytes.HasPrefix(head, []byte(ageHeader)) }

// Archive is what a backup holds.
type Archive struct {
	Made     time.Time
	Database []byte
	Files    []File
}

// Read reads a backup, whole or not at all. A passphrase is for one that is encrypted, nil for one that is
// not.
func Read(r io.Reader, passphrase *string) (Archive, error) {
	data, err := io.ReadAll(io.LimitReader(r, Most))
	if err != nil {
		return Archive{}, err
	}
	switch {
	case Encrypted(data) && passphrase == nil:
		return Archive{}, ErrEncrypted
	case Encrypted(data):
		if data, err = opened(data, *passphrase); err != nil {
			return Archive{}, err
		}
	case passphrase != nil && bytes.HasPrefix(data, []byte(magic)):
		return Archive{}, ErrNotEncrypted
	}
	return parse(data)
}

func opened(data []byte, passphrase string) ([]byte, error) {
	if passphrase == "" {
		return nil, ErrEmptyPassphrase
	}
	by, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	by.SetMaxWorkFactor(workFactor) // a forged one could ask for all memory
	plain, err := age.Decrypt(bytes.NewReader(data), by)
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrWrongPassword, err)
	}
	out, err := io.ReadAll(plain)
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	return out, nil
}

func parse(data []byte) (Archive, error) {
	if !bytes.HasPrefix(data, []byte(magic)) || len(data) < len(magic)+sha256.Size {
		return Archive{}, ErrNotOne
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return Archive{}, fmt.Errorf("%w: its checksum is another", ErrDamaged)
	}
	var out Archive
	t := tar.NewReader(bytes.NewReader(body[len(magic):]))
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Archive{}, fmt.Errorf("%w: %v", ErrDamaged, err)
		}
		content, err := io.ReadAll(t)
		if err != nil {
			return Archive{}, fmt.Errorf("%w: %v", ErrDamaged, err)
		}
		if h.Name == databaseName {
			out.Database, out.Made = content, h.ModTime
			continue
		}
		if !plain(h.Name) {
			return Archive{}, fmt.Errorf("%w: it holds a file %q", ErrDamaged, h.Name)
		}
		out.Files = append(out.Files, File{h.Name, content})
	}
	if out.Database == nil {
		return Archive{}, fmt.Errorf("%w: it holds no database", ErrDamaged)
	}
	return out, nil
}

// plain reports whether a name is one folder and one file: nothing else may be written to a data directory.
func plain(name string) bool {
	folder, file, ok := strings.Cut(name, "/")
	return ok && (folder == "profiles" || folder == "tls") && file != "" && !strings.ContainsAny(file, "/\\\x00") && !strings.HasPrefix(file, ".")
}
