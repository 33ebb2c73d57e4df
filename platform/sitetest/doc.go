// Package sitetest is a believable building for tests of what reads sites: its power is a formula, so that every figure
// can be computed a second time by whoever checks it.
package sitetest
