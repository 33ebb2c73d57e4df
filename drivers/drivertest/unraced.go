//go:build !race

package drivertest

const raced = false
