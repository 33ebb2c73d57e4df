//go:build !peers

package link_test

import (
	"testing"

	"svc.internal/controller/platform/store"
)

// eachPeerBroker runs nothing: brokers of others need the build tag peers.
func eachPeerBroker(*testing.T, func(*testing.T, *store.Store, place)) {}
