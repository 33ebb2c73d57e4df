package operations

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/site/backup"
	"svc.internal/controller/store"
)

const ageKey = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"

func TestACardIsReadWhole(t *testing.T) {
	t.Parallel()
	got, err := ReadCard(strings.NewReader("\uFEFF# written in an editor of Windows\r\n\r\nhostname = Annex-2\r\nclock=DS3231\r\ntime-zone=Europe/Zurich\r\nbackup-key=" + ageKey +
		"\r\nplatform=https://platform.example\r\nplatform-code=A=B#C\r\nplatform-fingerprint=" + strings.Repeat("A8:", 31) + "A8"))
	want := Card{"annex-2", "ds3231", "Europe/Zurich", ageKey, Enrolment{"https://platform.example", "A=B#C", strings.Repeat("A8:", 31) + "A8"}}
	if err != nil || got != want {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	if got, err := ReadCard(strings.NewReader("# hostname=x\n")); err != nil || got != (Card{}) {
		t.Errorf("a file of comments: %+v, %v", got, err)
	}
}

// TestACardIsRefusedByLineAndName: and never repeats what may be a secret.
func TestACardIsRefusedByLineAndName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hostname=a.b":                               "line 1, hostname: want 1 to 63 letters",
		"hostname=-a":                                "line 1, hostname: want",
		"clock=ds3232":                               "line 1, clock: want the chip of the clock on the pins: ds1307, ds3231, pcf8523, pcf8563",
		"#\n\ntime-zone=Mars/Olympus":                "line 3, time-zone: want a time zone such as",
		"time-zone=Local":                            "line 1, time-zone: want",
		"backup-key=age1nonsense":                    "line 1, backup-key: ",
		"backup-key=AGE-SECRET-KEY-1X":               "line 1, backup-key: this is the secret key",
		"platform=http://p.example\nplatform-code=c": "line 1, platform: want an address such as https://",
		"platform=https://u:secret@p.example\nplatform-code=c":                "line 1, platform: want",
		"platform-code=SECRET":                                                "line 1, platform-code: platform is missing",
		"platform=https://p.example":                                          "line 1, platform: platform-code is missing",
		"platform-fingerprint=" + strings.Repeat("a8", 32):                    "line 1, platform-fingerprint: platform is missing",
		"platform=https://p.example\nplatform-code=c\nplatform-fingerprint=a": "line 3, platform-fingerprint: want the SHA-256",
		"wifi=home":                  "line 1, wifi: there is no such setting; there are hostname, clock, time-zone, backup-key",
		"SECRET-WITHOUT-A-NAME":      "line 1: want name=value",
		"SECRET=x":                   "line 1: want name=value",
		"hostname=a\nhostname=b":     "line 2, hostname: it is set in line 1, too",
		"hostname=":                  "line 1, hostname: there is no value",
		"hostname=a.b\ntime-zone=SE": "line 1, hostname: want 1 to 63 letters, digits and hyphens, without a dot\nline 2, time-zone: want",
		strings.Repeat("x\n", 100):   "and 80 more",
		strings.Repeat("#", 17<<10):  "larger than 16384 bytes",
	} {
		got, err := ReadCard(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || got != (Card{}) {
			t.Errorf("%.60q: %+v, %v\nwant %s", text, got, err, want)
			continue
		}
		if strings.Contains(strings.ToUpper(err.Error()), "SECRET-") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%.60q: the error repeats a secret: %v", text, err)
		}
	}
}

func TestWhatACardBringsIsHandedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, there, err := PreparedEnrolment(dir); there || err != nil {
		t.Errorf("nothing was prepared: %v, %v", there, err)
	}
	e := Enrolment{Platform: "https://p.example", Code: "c"}
	for range 2 { // the power may fail before the card's file is gone
		if err := (Card{Hostname: "a", Enrolment: e}).HandOver(dir); err != nil {
			t.Fatal(err)
		}
	}
	if got, there, err := PreparedEnrolment(dir); got != e || !there || err != nil {
		t.Errorf("%+v, %v, %v", got, there, err)
	}
	for range 2 {
		if err := EnrolmentOver(dir); err != nil {
			t.Error(err)
		}
	}
	if _, there, err := PreparedEnrolment(dir); there || err != nil {
		t.Errorf("it is over: %v, %v", there, err)
	}
}

// The key for backups that was prepared is taken once, and not in place of another.
func TestThePreparedKeyForBackupsIsTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	o := NewOffsite(t.Context(), db, "", slog.New(slog.DiscardHandler))
	take := func(want string) {
		t.Helper()
		if err := o.TakePrepared(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if got := o.OffsiteNow(); got.Key != want || want != "" && got.Keep == 0 {
			t.Errorf("the key is %q, %d are kept; want %q", got.Key, got.Keep, want)
		}
		if _, err := os.Stat(filepath.Join(dir, handover, "backup-key")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it still waits: %v", err)
		}
	}
	other, _, err := backup.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	take("")
	for _, key := range []string{ageKey, other} {
		if err := (Card{BackupKey: key}).HandOver(dir); err != nil {
			t.Fatal(err)
		}
		take(ageKey)
	}
	if again := NewOffsite(t.Context(), db, "", slog.New(slog.DiscardHandler)).OffsiteNow(); again.Key != ageKey {
		t.Errorf("after a restart the key is %q", again.Key)
	}
}
