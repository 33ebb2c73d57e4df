package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"

	"svc.internal/controller/site/backup"
)

// tlsSetting says where the installer's own certificate and key lie.
const tlsSetting = "tls-files"

// tlsFiles are the paths of an own certificate and its key.
type tlsFiles struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// KeepCertificate has backups hold the certificate and key of these files; empty paths: none.
func (s *Store) KeepCertificate(ctx context.Context, certFile, keyFile string) error {
	want := jsonText(tlsFiles{certFile, keyFile})
	var have string
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", tlsSetting).Scan(&have)
	})
	if have == want || err == sql.ErrNoRows && certFile == "" {
		return nil
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO setting (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2", tlsSetting, want)
		return err
	})
	if err != nil {
		return fmt.Errorf("note where the certificate lies: %w", err)
	}
	return nil
}

// ownCertificate reads the files that [Store.KeepCertificate] named.
func (s *Store) ownCertificate(ctx context.Context) []backup.File {
	var text string
	var at tlsFiles
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", tlsSetting).Scan(&text)
	})
	if err != nil || json.Unmarshal([]byte(text), &at) != nil || at.Certificate == "" {
		return nil
	}
	cert, err := os.ReadFile(at.Certificate)
	if err == nil {
		var key []byte
		if key, err = os.ReadFile(at.Key); err == nil {
			return []backup.File{{Name: "tls/certificate.pem", Data: cert}, {Name: "tls/key.pem", Data: key}}
		}
	}
	s.log.Warn("the own certificate cannot be read and is not in the backup", "why", err)
	return nil
}

// takeCertificate puts the certificate and key of a backup in the place of the one that the controller made.
func takeCertificate(ctx context.Context, tx *sql.Tx, files []backup.File) error {
	var both []byte
	for _, name := range []string{"tls/certificate.pem", "tls/key.pem"} {
		for _, f := range files {
			if f.Name == name {
				both = append(append(both, f.Data...), '\n')
			}
		}
	}
	if both == nil {
		return nil
	}
	return putSecret(ctx, tx, "tls-certificate", both)
}
