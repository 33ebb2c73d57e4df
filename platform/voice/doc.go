// Package voice turns a spoken or typed sentence into what a room should do, without a language model.
//
// A sentence acts only if every word of it is understood: it is put into plain words (normalise.go), each word gets a
// class (words.go), numbers are folded into amounts (number.go), and the row of classes has to match a pattern as a whole
// (act.go). What is left over, other than filler, means that nothing is done. Sentences that do not act are told apart for
// the answer: a compound that cannot be done as said (compound.go), a question for the assistant (question.go), or unknown.
//
// The room is the caller's own and is never named. In doubt nothing moves.
package voice
