package backup

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"filippo.io/age"
)

// secretPrefix begins a secret key: no passphrase begins so.
const secretPrefix = "AGE-SECRET-KEY-"

// NewKey makes a pair of keys (age, X25519): backups are encrypted to the public one, and only the secret one opens them.
func NewKey() (public, secret string, err error) {
	pair, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	return pair.Recipient().String(), pair.String(), nil
}

// CheckKey tells what is wrong with a public key.
func CheckKey(public string) error {
	_, err := publicKey(public)
	return err
}

// publicKey reads a public key. What it refuses it does not repeat: it may be the secret one.
func publicKey(text string) (age.Recipient, error) {
	switch to, err := age.ParseX25519Recipient(text); {
	case err == nil:
		return to, nil
	case strings.HasPrefix(strings.ToUpper(text), secretPrefix):
		return nil, errors.New("this is the secret key: keep it to yourself; wanted is the public one, which begins with age1")
	case strings.HasPrefix(text, "age1pq"):
		return nil, errors.New("this kind of key is not known here; wanted is one of age-keygen without options, or of \"controllerd backup key\"")
	}
	return nil, errors.New("this is no public key: wanted is age1 and 58 letters and digits, as age-keygen or \"controllerd backup key\" tells; was a part of it left out?")
}

// sealedToKey reports whether an encrypted backup is opened by a secret key, and not by a passphrase.
func sealedToKey(data []byte) bool {
	head, _, _ := bytes.Cut(data, []byte("\n--- ")) // after it what is encrypted begins
	return bytes.Contains(head, []byte("\n-> X25519 "))
}

var secretForm = regexp.MustCompile("(?i)" + secretPrefix + "1[0-9a-z]*")

// secretKey finds the secret key in what somebody gave: the key itself, or the file that age-keygen writes around it.
func secretKey(text string) (key string, there bool) {
	key = strings.ToUpper(secretForm.FindString(text))
	return key, key != ""
}

// IsSecretKey reports whether somebody gave a secret key, and no passphrase.
func IsSecretKey(text string) bool {
	_, there := secretKey(text)
	return there
}

// opener is what opens an encrypted backup: a secret key, or else a passphrase.
func opener(data []byte, text string) (age.Identity, error) {
	key, isKey := secretKey(text)
	switch toKey := sealedToKey(data); {
	case text == "":
		return nil, ErrEmptyPassphrase
	case toKey && !isKey:
		return nil, ErrKeyNeeded
	case !toKey && isKey:
		return nil, ErrPassphraseNeeded
	case isKey:
		by, err := age.ParseX25519Identity(key)
		if err != nil {
			return nil, ErrBadKey // without what it was
		}
		return by, nil
	}
	by, err := age.NewScryptIdentity(text)
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	by.SetMaxWorkFactor(workFactor) // a forged one could ask for all memory
	return by, nil
}
