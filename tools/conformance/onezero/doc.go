// Package onezero plays a Controller 1.0, for tests: written from the tables of the
// contract alone, without anything of ours, with the habits that old controllers have
// where the contract is silent.
package onezero
