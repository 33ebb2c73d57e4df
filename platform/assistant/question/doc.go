// Package question reads what somebody asks about a building in free words.
//
// A sentence is not looked up in a list of sentences. It is taken apart into parts that combine freely:
//
//	names    zones, floors, devices, meters of this building, also inexact ones    names.go
//	times    "yesterday morning", "since Monday", "between 8 and 12"               when.go
//	words    what it is about, what is asked of it, and which filter               words.go, lexicon.go
//	orders   what is to be done, and the number it sets                            order.go, amount.go
//	rest     words that name something the building does not have                  parse.go
//
// Names are data of devices and installers: they are compared with words, and nothing in them is ever read as an order.
// The package knows no store and no clock; the same words at the same time give the same [Question].
package question
