// Package freeport finds TCP ports for servers that tests start as processes of their own.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// given are the ports that this process has given.
var given sync.Map

// Find returns a port of 127.0.0.1 that nobody had a moment ago, from 10000 to 29999: below those that the kernel gives to whoever asks
// for any, so that nobody else gets it before a server is there, or while it is away. Each call returns another. An error means that
// none is free.
func Find() (string, error) {
	for range 1000 {
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", errors.New("there is no free port from 10000 to 29999")
}
