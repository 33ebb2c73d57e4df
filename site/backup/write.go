package backup

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"filippo.io/age"
)

const magic = "controllerd backup 1\n"

// databaseName is the entry of the tar that holds the database.
const databaseName = "database"

// File is one of those that are kept besides the database.
type File struct {
	Name string // profiles/lamp.yaml, tls/key.pem
	Data []byte
}

// ErrEmptyPassphrase: an empty one would encrypt for everybody.
var ErrEmptyPassphrase = errors.New("the passphrase is empty")

// workFactor makes guessing a passphrase cost 32 MB and about a tenth of a second on a PC, which a small
// board can give once.
const workFactor = 15

// Seal says for whom a backup is encrypted. The zero Seal leaves it open.
type Seal struct {
	Passphrase *string // for whoever knows it; never empty
	Key        string  // for whoever has the secret key to this public one, see [NewKey]; alone
}

// recipient is nil for the zero Seal.
func (s Seal) recipient() (age.Recipient, error) {
	switch {
	case s.Key != "":
		return publicKey(s.Key)
	case s.Passphrase == nil:
		return nil, nil
	case *s.Passphrase == "":
		return nil, ErrEmptyPassphrase
	}
	to, err := age.NewScryptRecipient(*s.Passphrase)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	to.SetWorkFactor(workFactor)
	return to, nil
}

// Write writes a backup.
func Write(w io.Writer, seal Seal, made time.Time, database io.Reader, size int64, files []File) error {
	to, err := seal.recipient()
	if err != nil {
		return err
	}
	if to == nil {
		return write(w, made, database, size, files)
	}
	sealed, err := age.Encrypt(w, to)
	if err != nil {
		return fmt.Errorf("encrypt: %w", err)
	}
	if err := write(sealed, made, database, size, files); err != nil {
		return err
	}
	return sealed.Close()
}

func write(w io.Writer, made time.Time, database io.Reader, size int64, files []File) error {
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	if _, err := io.WriteString(both, magic); err != nil {
		return err
	}
	t := tar.NewWriter(both)
	head := func(name string, size int64) error {
		return t.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: made.Truncate(time.Second), Format: tar.FormatPAX})
	}
	if err := head(databaseName, size); err != nil {
		return err
	}
	if _, err := io.Copy(t, database); err != nil {
		return err
	}
	for _, f := range files {
		if err := head(f.Name, int64(len(f.Data))); err != nil {
			return err
		}
		if _, err := t.Write(f.Data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}
