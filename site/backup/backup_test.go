package backup

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

var made = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func written(t *testing.T, passphrase *string) []byte {
	t.Helper()
	var out bytes.Buffer
	database := strings.Repeat("SQLite", 3000)
	files := []File{{"profiles/lamp.yaml", []byte("outputs: []\n")}, {"tls/key.pem", []byte("secret")}}
	if err := Write(&out, Seal{Passphrase: passphrase}, made, strings.NewReader(database), int64(len(database)), files); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	for name, passphrase := range map[string]*string{"open": nil, "encrypted": new("correct horse")} {
		t.Run(name, func(t *testing.T) {
			data := written(t, passphrase)
			if Encrypted(data) != (passphrase != nil) || passphrase != nil && bytes.Contains(data, []byte("SQLite")) {
				t.Error("encrypted, or not, against what was asked")
			}
			a, err := Read(t.Context(), bytes.NewReader(data), passphrase)
			if err != nil {
				t.Fatal(err)
			}
			if string(a.Database) != strings.Repeat("SQLite", 3000) || !a.Made.Equal(made) || len(a.Files) != 2 || string(a.Files[1].Data) != "secret" {
				t.Errorf("got %d bytes of %v with %v", len(a.Database), a.Made, a.Files)
			}
		})
	}
}

// TestAFlippedBitAnywhereIsRefused tries a thousand, some of them in the encrypted form, which takes long to open.
func TestAFlippedBitAnywhereIsRefused(t *testing.T) {
	encrypted := 200 // every which time
	if os.Getenv("SOAK") != "" {
		encrypted = 20
	}
	phrase := new("correct horse")
	open, sealed := written(t, nil), written(t, phrase)
	for i := range 1000 {
		data, with := open, (*string)(nil)
		if i%encrypted == encrypted-1 {
			data, with = sealed, phrase
		}
		bit := rand.IntN(8 * len(data))
		if i < 8*4 { // all of the first bytes, too
			bit = i
		}
		bad := bytes.Clone(data)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := Read(t.Context(), bytes.NewReader(bad), with); err == nil {
			t.Fatalf("bit %d of %d was flipped and nobody noticed (encrypted: %v)", bit, 8*len(data), with != nil)
		}
	}
	for _, n := range []int{0, 1, len(magic), len(open) / 2, len(open) - 1} {
		if _, err := Read(t.Context(), bytes.NewReader(open[:n]), nil); err == nil {
			t.Errorf("%d of %d bytes were taken for all", n, len(open))
		}
	}
	if _, err := Read(t.Context(), bytes.NewReader(append(bytes.Clone(open), 0)), nil); err == nil {
		t.Error("a byte too much was taken")
	}
}

func TestPassphrasesThatDoNotFit(t *testing.T) {
	open, sealed := written(t, nil), written(t, new("correct horse"))
	for _, c := range []struct {
		name string
		data []byte
		with *string
		want error
	}{
		{"none for an encrypted one", sealed, nil, ErrEncrypted},
		{"an empty one", sealed, new(""), ErrEmptyPassphrase},
		{"a wrong one", sealed, new("horse"), ErrWrongPassword},
		{"one for an open one", open, new("horse"), ErrNotEncrypted},
		{"no backup", []byte("SQLite format 3\x00 and so on, long enough to hold a sum"), nil, ErrNotOne},
	} {
		if _, err := Read(t.Context(), bytes.NewReader(c.data), c.with); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if err := Write(&bytes.Buffer{}, Seal{Passphrase: new("")}, made, strings.NewReader(""), 0, nil); !errors.Is(err, ErrEmptyPassphrase) {
		t.Errorf("writing with an empty passphrase: %v", err)
	}
}

func TestNothingElseMayBeWritten(t *testing.T) {
	for _, name := range []string{"profiles/../../etc/passwd", "/etc/passwd", "controller.db", "profiles/", "profiles/.hidden", "other/x", "tls/a/b"} {
		var out bytes.Buffer
		if err := Write(&out, Seal{}, made, strings.NewReader("x"), 1, []File{{name, nil}}); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), &out, nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestWhatIsEncryptedToAKeyIsOpenedByItsSecretAlone(t *testing.T) {
	public, secret, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, Seal{Key: public}, made, strings.NewReader("SQLite"), 6, nil); err != nil {
		t.Fatal(err)
	}
	data, phrased := out.Bytes(), written(t, new("correct horse"))
	if !Encrypted(data) || bytes.Contains(data, []byte("SQLite")) {
		t.Error("it is not encrypted")
	}
	damaged := bytes.Clone(data)
	damaged[len(damaged)-1] ^= 1
	slip := "Q"
	if secret[20:21] == slip {
		slip = "P"
	}
	file := "# created: 2026-11-27T00:00:00Z\n# public key: " + public + "\n" + secret + "\n"
	for _, c := range []struct {
		name string
		data []byte
		with *string
		want error
	}{
		{"its secret key", data, &secret, nil},
		{"the file of age-keygen", data, &file, nil},
		{"in small letters, with space about it", data, new(" " + strings.ToLower(secret) + "\r\n"), nil},
		{"another key", data, &other, ErrWrongKey},
		{"a key with a slip", data, new(secret[:20] + slip + secret[21:]), ErrBadKey},
		{"half a key", data, new(secret[:30]), ErrBadKey},
		{"the public key", data, &public, ErrKeyNeeded},
		{"a passphrase", data, new("correct horse"), ErrKeyNeeded},
		{"nothing", data, nil, ErrKeyNeeded},
		{"a key for a passphrase", phrased, &secret, ErrPassphraseNeeded},
		{"damaged", damaged, &secret, ErrDamaged},
	} {
		_, err := Open(t.Context(), c.data, c.with)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err != nil && c.with != nil && strings.Contains(strings.ToUpper(err.Error()), strings.ToUpper(strings.TrimSpace(*c.with))[:13]) {
			t.Errorf("%s: %v repeats what was given", c.name, err)
		}
	}
}

func TestPublicKeysThatAreNone(t *testing.T) {
	public, secret, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckKey(public); err != nil {
		t.Error(err)
	}
	for name, key := range map[string]string{
		"a secret one": secret, "half of one": public[:30], "with a slip": public[:20] + "b" + public[21:], "none": "", "two": public + "," + public, "of another kind": "age1pq1qqqq",
	} {
		if err := CheckKey(key); err == nil || len(key) > 20 && strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
