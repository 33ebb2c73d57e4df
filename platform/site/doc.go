// Package site keeps what controllers report, and answers questions about it with the age of every value.
package site
