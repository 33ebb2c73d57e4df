//go:build !peers

package main

import "testing"

// eachPeerBroker runs nothing: brokers of others need the build tag peers.
func eachPeerBroker(*testing.T, plan, func(string) string, func(*testing.T, *estate, outage)) {}
