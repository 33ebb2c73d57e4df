package dali

import "errors"

// errConflict: another sender was on the DALI line at the same time. The whole
// sequence is sent again.
var errConflict = errors.New("collision with another sender on the DALI line")
