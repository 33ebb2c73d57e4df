// Package voice turns a spoken or typed sentence into what a room should do, without a language model.
//
// Sentences are read by [understand], which knows no place of a room that is never named: it is the caller's own. What is understood
// whole becomes gestures of the room's panel (gesture.go), all or none. A question about the lights or shades of the room is answered
// from what they report (state.go). Anything else is for the assistant, or is refused with its reason in one short sentence, in the
// language of the speaker (words.go). In doubt nothing moves.
package voice
