package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	backupsKept   = 7
	nightlyPrefix = "nightly-"
	nightlyAfter  = 23 * time.Hour // so that one a night is due at the same hour
	nightlyHour   = 3              // of the board's own time zone
	nightlyLate   = 48 * time.Hour // then any hour will do: the board was off at night
)

// Nightly makes a backup in a folder if the last there is of another night, and removes
// all but the newest seven. It returns the new file, or "" if none was due.
func (s *Store) Nightly(ctx context.Context, folder string) (string, error) {
	now := s.now()
	made, err := NightlyBackups(folder)
	if err != nil {
		return "", fmt.Errorf("nightly backup: %w", err)
	}
	var last time.Time // of a clock that did not run ahead
	for _, at := range made {
		if !at.After(now) {
			last = at
		}
	}
	if !DueByNight(last, now) {
		return "", nil
	}
	file, err := s.backupInto(ctx, folder, nightlyPrefix, nightlyLayout)
	if err != nil {
		return "", fmt.Errorf("nightly backup: %w", err)
	}
	return file, nil
}

// DueByNight reports whether what is done once a night, and was last then, is due.
func DueByNight(last, now time.Time) bool {
	night, age := now.Local().Hour() == nightlyHour, now.Sub(last)
	return age >= nightlyLate || night && age >= nightlyAfter
}

// BackupBeforeMigration makes a backup in a folder, and removes all but the newest seven of its kind.
func (s *Store) BackupBeforeMigration(ctx context.Context, folder string) (string, error) {
	file, err := s.backupInto(ctx, folder, "before-migration-", "20060102T150405.000Z")
	if err != nil {
		return "", fmt.Errorf("back up before the migration: %w", err)
	}
	return file, nil
}

// backupInto makes a backup that a folder keeps seven of: the newest by name, and the one just
// made, whatever its clock said.
func (s *Store) backupInto(ctx context.Context, folder, prefix, layout string) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	made := prefix + s.now().UTC().Format(layout)
	file := filepath.Join(folder, made)
	if err := s.Backup(ctx, file, BackupOptions{}); err != nil {
		return "", err
	}
	list, err := backupsIn(folder, prefix, layout)
	if err != nil {
		return file, err
	}
	list = slices.DeleteFunc(list, func(name string) bool { return name == made })
	for _, old := range list[:max(0, len(list)-backupsKept+1)] {
		if err := os.Remove(filepath.Join(folder, old)); err != nil {
			return file, err
		}
	}
	return file, nil
}

const nightlyLayout = "20060102T150405Z"

// backupsIn are the names of one kind of backups, the oldest first.
func backupsIn(folder, prefix, layout string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if _, err := time.Parse(prefix+layout, e.Name()); err == nil {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out) // by time
	return out, nil
}

// NightlyBackups tells when those in a folder were made, the oldest first.
func NightlyBackups(folder string) ([]time.Time, error) {
	list, err := backupsIn(folder, nightlyPrefix, nightlyLayout)
	made := make([]time.Time, len(list))
	for i, name := range list {
		made[i], _ = time.Parse(nightlyPrefix+nightlyLayout, name) // as backupsIn did
	}
	return made, err
}
