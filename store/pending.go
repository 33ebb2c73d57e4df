package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"svc.internal/controller/site/backup"
)

// A restore replaces the database by one rename; the installers' profiles of the backup are files
// besides. So that a power cut between the two leaves nothing half restored, the database that comes
// holds them as well until it is opened with all of them in their place.
const pendingProfiles = "restored-profiles"

// profilesOf are the installers' profiles among the files of a backup, by their own names.
func profilesOf(files []backup.File) (out []backup.File) {
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Name, profileFolder+"/"); ok {
			out = append(out, backup.File{Name: name, Data: f.Data})
		}
	}
	return out
}

// keepPending puts profiles into the database that is to come.
func keepPending(ctx context.Context, tx *sql.Tx, profiles []backup.File) error {
	if len(profiles) == 0 {
		return nil
	}
	text, err := json.Marshal(profiles)
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO secret (name, value) VALUES (?, ?)", pendingProfiles, text)
	}
	return err
}

// finishRestore writes the profiles of a restore, again if need be, and forgets that they were to be written.
func (s *Store) finishRestore(ctx context.Context) error {
	var text []byte
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT value FROM secret WHERE name = ?", pendingProfiles).Scan(&text)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	var profiles []backup.File
	if err == nil {
		err = json.Unmarshal(text, &profiles)
	}
	if err == nil {
		err = putProfiles(filepath.Dir(s.path), profiles)
	}
	if err == nil {
		err = s.write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM secret WHERE name = ?", pendingProfiles)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("finish a restore: %w", err)
	}
	return nil
}

// putProfiles writes installers' profiles. Others that are there stay.
func putProfiles(dataDir string, profiles []backup.File) error {
	folder := filepath.Join(dataDir, profileFolder)
	for _, f := range profiles {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		if err := writeWhole(filepath.Join(folder, f.Name), f.Data); err != nil {
			return err
		}
	}
	return nil
}
