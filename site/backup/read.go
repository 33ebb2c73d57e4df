package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"svc.internal/controller/shelf/intake"
)

// Bounds of a backup: a building's has a few megabytes, and as many files besides the
// database as there are profiles of installers. All of it is unpacked in memory.
const (
	Most      = 128 << 20
	filesMost = 2000
)

// Errors of reading.
var (
	ErrNotOne        = errors.New("the file is not a backup of a controller")
	ErrDamaged       = errors.New("the backup is damaged")
	ErrEncrypted     = errors.New("the backup is encrypted; its passphrase is needed")
	ErrNotEncrypted  = errors.New("the backup is not encrypted, but a passphrase was given: is it the right file?")
	ErrWrongPassword = errors.New("the passphrase is wrong, or the backup is damaged")

	ErrKeyNeeded        = errors.New("the backup is encrypted to a public key; the secret key that belongs to it is needed (AGE-SECRET-KEY-1…)")
	ErrPassphraseNeeded = errors.New("the backup is encrypted with a passphrase, but a secret key was given")
	ErrWrongKey         = errors.New("the secret key does not belong to this backup, or the backup is damaged")
	ErrBadKey           = errors.New("this is no secret key: a letter of it is wrong, or a part was left out")
)

var bounds = intake.Limit{What: "the backup", Bytes: Most, Advice: "is it the file of a controller?"}

const ageHeader = "age-encryption.org/v1\n"

// Encrypted reports whether a file that begins so is encrypted.
func Encrypted(head []byte) bool { return bytes.HasPrefix(head, []byte(ageHeader)) }

// Archive is what a backup holds.
type Archive struct {
	Made     time.Time
	Database []byte
	Files    []File
}

// Read reads a backup like [Open] from where there may be more than one can have.
func Read(ctx context.Context, r io.Reader, passphrase *string) (Archive, error) {
	data, err := intake.All(ctx, r, bounds)
	if err != nil {
		return Archive{}, err
	}
	return Open(ctx, data, passphrase)
}

// Open takes the bytes of a backup apart, whole or not at all. A passphrase is for one that
// is encrypted, nil for one that is not; for one that is encrypted to a key it is the secret key.
func Open(ctx context.Context, data []byte, passphrase *string) (Archive, error) {
	switch {
	case Encrypted(data) && passphrase == nil && sealedToKey(data):
		return Archive{}, ErrKeyNeeded
	case Encrypted(data) && passphrase == nil:
		return Archive{}, ErrEncrypted
	case Encrypted(data):
		var err error
		if data, err = opened(ctx, data, *passphrase); err != nil {
			return Archive{}, err
		}
	case passphrase != nil && bytes.HasPrefix(data, []byte(magic)):
		return Archive{}, ErrNotEncrypted
	}
	return parse(ctx, data)
}

func opened(ctx context.Context, data []byte, passphrase string) ([]byte, error) {
	by, err := opener(data, passphrase)
	if err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(bytes.NewReader(data), by)
	if err != nil && sealedToKey(data) {
		return nil, fmt.Errorf("%w (%v)", ErrWrongKey, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrWrongPassword, err)
	}
	out, err := intake.All(ctx, plain, bounds)
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	return out, nil
}

func parse(ctx context.Context, data []byte) (Archive, error) {
	if !bytes.HasPrefix(data, []byte(magic)) || len(data) < len(magic)+sha256.Size {
		return Archive{}, ErrNotOne
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	whole := sha256.New()
	for part := range slices.Chunk(body, 64<<10) { // a sum at one go holds up the collector, and with it every command
		if ctx.Err() != nil {
			return Archive{}, ctx.Err()
		}
		whole.Write(part)
	}
	if !bytes.Equal(whole.Sum(nil), sum) {
		return Archive{}, fmt.Errorf("%w: its checksum is another", ErrDamaged)
	}
	var out Archive
	err := intake.Tar(ctx, "the backup", body[len(magic):], filesMost, func(h *tar.Header, content []byte) error {
		if h.Name == databaseName {
			out.Database, out.Made = content, h.ModTime
			return nil
		}
		if !plain(h.Name) {
			return fmt.Errorf("it holds a file %.200q", h.Name)
		}
		out.Files = append(out.Files, File{h.Name, content})
		return nil
	})
	if ctx.Err() != nil {
		return Archive{}, ctx.Err()
	}
	if err != nil {
		return Archive{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if len(out.Database) == 0 {
		return Archive{}, fmt.Errorf("%w: it holds no database", ErrDamaged)
	}
	return out, nil
}

// plain reports whether a name is one folder and one file: nothing else may be written to a data directory.
func plain(name string) bool {
	folder, file, ok := strings.Cut(name, "/")
	return ok && (folder == "profiles" || folder == "tls") && file != "" && !strings.ContainsAny(file, "/\\\x00") && !strings.HasPrefix(file, ".")
}
