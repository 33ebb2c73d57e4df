package platform

import "errors"

// What callers tell apart; rooms wrap these with what was attempted.
var (
	ErrNotFound = errors.New("not found")
	ErrOffline  = errors.New("the controller is offline")
)
