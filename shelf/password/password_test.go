package password

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
)

const good = "correct horse"

func TestAPasswordIsTheSameAsItself(t *testing.T) {
	stored := Hash(good)
	if !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") || stored == Hash(good) {
		t.Errorf("stored as %s", stored)
	}
	for _, test := range []struct {
		stored, password string
		same             bool
	}{{stored, good, true}, {stored, good + " ", false}, {stored, "", false}, {Decoy(), good, false}, {Hash(strings.Repeat("x", maxLen)), strings.Repeat("x", maxLen+1), false}} {
		same, weaker, err := Same(test.stored, test.password)
		if same != test.same || weaker || err != nil {
			t.Errorf("%.20q: %v, %v, %v; want %v", test.password, same, weaker, err, test.same)
		}
	}
}

func TestAWeakHashIsTold(t *testing.T) {
	salt := []byte("0123456789abcdef")
	b64 := base64.RawStdEncoding.EncodeToString
	stored := fmt.Sprintf("$argon2id$v=19$m=8,t=1,p=1$%s$%s", b64(salt), b64(argon2.IDKey([]byte(good), salt, 1, 8, 1, keyLen)))
	if same, weaker, err := Same(stored, good); !same || !weaker || err != nil {
		t.Errorf("%v, %v, %v; want the same, and weaker", same, weaker, err)
	}
}

func TestStoredFormsThatAreNone(t *testing.T) {
	for _, stored := range []string{
		"", "secret", "$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA", "$argon2id$v=18$m=8,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=8,t=0,p=1$AAAA$AAAA",
		"$argon2id$v=19$m=9999999,t=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=8,t=1,p=1$A!$AAAA", "$argon2id$v=19$m=8,t=1,p=1$AAAA$A!", "$argon2id$v=19$m=8$AAAA$AAAA",
	} {
		if same, _, err := Same(stored, ""); same || err == nil {
			t.Errorf("%q: %v, %v; want an error", stored, same, err)
		}
	}
}

func TestWhichPasswordsCanBeUsed(t *testing.T) {
	for password, ok := range map[string]bool{
		"ten chars!": true, "nine char": false, strings.Repeat("ä", 10): true, strings.Repeat("x", maxLen): true, strings.Repeat("x", maxLen+1): false, "not UTF-8 \xff": false,
	} {
		if err := Check(password); (err == nil) != ok {
			t.Errorf("%.12q: %v", password, err)
		}
	}
}
