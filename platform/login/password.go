package login

import (
	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/password"
)

const (
	// maxHashings at a time keep the memory for hashing at 76 MiB.
	maxHashings = 4
	// maxWaiting callers may wait for them, at some 50 ms each.
	maxWaiting = 64
)

// HashPassword makes the stored form of a new password. It returns [platform.ErrInvalid]
// for one that is too short, too long or not UTF-8.
func HashPassword(wanted string) (string, error) {
	if err := password.Check(wanted); err != nil {
		return "", platform.Invalid("%v", err)
	}
	return password.Hash(wanted), nil
}
