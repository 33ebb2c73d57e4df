package operations

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/site/backup"
)

const (
	// cardMost bounds what an owner writes onto a card, in bytes, and cardFaults what is told of it.
	cardMost, cardFaults = 16 << 10, 20
	// handover is the folder in the data directory where what came with the card waits for who takes it.
	handover = "prepared"
)

// Card is what an owner has written onto a card before its first start. What is empty stays as it is.
type Card struct {
	Hostname  string // a single label, in small letters
	Clock     string // on the pins of a board: one of clocks
	TimeZone  string // IANA name
	BackupKey string // age recipient (X25519) to which backups that leave the box are encrypted
	Enrolment Enrolment
}

// Enrolment is where a controller is to enrol once it gets there. The zero Enrolment is none.
type Enrolment struct {
	Platform    string `json:"platform"` // https://…
	Code        string `json:"code"`
	Fingerprint string `json:"fingerprint,omitempty"` // of the platform's certificate; empty: the system knows whom to trust
}

var (
	hostLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	cardKey   = regexp.MustCompile(`^[a-z][a-z-]{0,39}$`)
)

// clocks are the chips with a battery that the appliance's system knows on a board's pins (NXP PCF8523 and PCF8563, Maxim DS1307 and DS3231).
var clocks = []string{"ds1307", "ds3231", "pcf8523", "pcf8563"}

// cardKeys are what can stand in the file, in the order in which they are told.
var cardKeys = []string{"hostname", "clock", "time-zone", "backup-key", "platform", "platform-code", "platform-fingerprint"}

// set takes over one setting. Its errors do not repeat the value, which may be a secret in the wrong place.
func (c *Card) set(key, value string) error {
	switch key {
	case "hostname":
		c.Hostname = strings.ToLower(value)
		if !hostLabel.MatchString(c.Hostname) {
			return errors.New("want 1 to 63 letters, digits and hyphens, without a dot")
		}
	case "clock":
		c.Clock = strings.ToLower(value)
		if !slices.Contains(clocks, c.Clock) {
			return errors.New("want the chip of the clock on the pins: " + strings.Join(clocks, ", "))
		}
	case "time-zone":
		c.TimeZone = value
		if _, err := time.LoadLocation(value); err != nil || value == "Local" {
			return errors.New("want a time zone such as Europe/Zurich")
		}
	case "backup-key":
		c.BackupKey = value
		return backup.CheckKey(value)
	case "platform":
		c.Enrolment.Platform = value
		if u, err := url.Parse(value); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return errors.New("want an address such as https://platform.example")
		}
	case "platform-code":
		c.Enrolment.Code = value
		if len(value) > 200 {
			return errors.New("want the one-time code that the platform shows")
		}
	case "platform-fingerprint":
		c.Enrolment.Fingerprint = value
		if b, err := hex.DecodeString(strings.ReplaceAll(value, ":", "")); err != nil || len(b) != 32 {
			return errors.New("want the SHA-256 of the platform's certificate: 64 hexadecimal digits, with colons or without")
		}
	default:
		return errors.New("there is no such setting; there are " + strings.Join(cardKeys, ", "))
	}
	return nil
}

// ReadCard reads a file of lines "name=value"; empty lines and those that begin with # say nothing. Its error names each wrong line and
// its setting, and repeats no value.
func ReadCard(r io.Reader) (Card, error) {
	data, err := io.ReadAll(io.LimitReader(r, cardMost+1))
	if err != nil {
		return Card{}, fmt.Errorf("read the file: %w", err)
	}
	if len(data) > cardMost {
		return Card{}, fmt.Errorf("the file is larger than %d bytes", cardMost)
	}
	var c Card
	var faults []error
	lines := map[string]int{} // of each setting
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\uFEFF")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch before := lines[key]; {
		case !ok || !cardKey.MatchString(key):
			err = errors.New("want name=value, with one of these names: " + strings.Join(cardKeys, ", "))
			key = ""
		case value == "":
			err = errors.New("there is no value; leave the line out to leave the setting as it is")
		case before > 0:
			err = fmt.Errorf("it is set in line %d, too", before)
		default:
			err = c.set(key, value)
		}
		lines[key] = n
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", strings.TrimSuffix(fmt.Sprintf("line %d, %s", n, key), ", "), err))
		}
	}
	for _, both := range [][2]string{{"platform", "platform-code"}, {"platform-code", "platform"}, {"platform-fingerprint", "platform"}} {
		if at := lines[both[0]]; at > 0 && lines[both[1]] == 0 {
			faults = append(faults, fmt.Errorf("line %d, %s: %s is missing", at, both[0], both[1]))
		}
	}
	if len(faults) > cardFaults {
		faults = append(faults[:cardFaults], fmt.Errorf("and %d more", len(faults)-cardFaults))
	}
	if len(faults) > 0 {
		return Card{}, errors.Join(faults...)
	}
	return c, nil
}

// HandOver leaves in the data directory what others take: the name and the clock for the system (hostname, clock), the key for backups (backup-key), and the
// enrolment for the daemon. It does so all at once or not at all, in place of what waited there before.
func (c Card) HandOver(dataDir string) (err error) {
	files := map[string]string{}
	if c.Hostname != "" {
		files["hostname"] = c.Hostname + "\n"
	}
	if c.Clock != "" {
		files["clock"] = c.Clock + "\n"
	}
	if c.BackupKey != "" {
		files["backup-key"] = c.BackupKey + "\n"
	}
	if c.Enrolment != (Enrolment{}) {
		b, err := json.Marshal(c.Enrolment)
		if err != nil {
			return err
		}
		files["enrolment"] = string(b)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("hand over what is prepared: %w", err)
		}
	}()
	to := filepath.Join(dataDir, handover)
	part := to + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(part, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// PreparedEnrolment is the one that waits in a data directory, if any.
func PreparedEnrolment(dataDir string) (e Enrolment, there bool, err error) {
	b, err := os.ReadFile(filepath.Join(dataDir, handover, "enrolment"))
	if errors.Is(err, fs.ErrNotExist) {
		return e, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		return e, false, fmt.Errorf("the enrolment that was prepared: %w", err)
	}
	return e, true, nil
}

// EnrolmentOver forgets the enrolment that waits in a data directory.
func EnrolmentOver(dataDir string) error {
	err := os.Remove(filepath.Join(dataDir, handover, "enrolment"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
