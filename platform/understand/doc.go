// Package understand reads what somebody says to a building: questions and orders, in English and German.
//
// There is one reader, for chat, programs and voice. A sentence goes this way:
//
//	token.go                 words, numbers, punctuation
//	en.txt, de.txt           what words mean: a tag and its phrases; a word that is nowhere is not understood
//	names.go                 the building's own names, also inexact ones
//	talk_en.txt, talk_de.txt what is said around a question: classes of words, and patterns over them
//	pattern.go, aside.go
//	apart.go                 verbs that come apart: "machte … aus"
//	rooms.txt, rooms.go      what places are commonly called, in both languages
//	absent.txt, absent.go    what buildings have and nobody here tells of
//	when.go, whenday.go,     times: "since Monday", "between 8 and 12", "the first week of November"
//	stretch.go, calendar.go,
//	clocktime.go
//	cond.go                  conditions with a dimension: "above 80 %", "for more than 3 hours", "more than 4 lights"
//	order.go, asked.go,      an order, if every word of it is one of an action's
//	cue.go, amount.go,
//	later.go, action.go,
//	actionshade.go
//	spoken.go, reason.go     what is said around an order: what is taken back or left alone, why it is wanted
//	refuse.go                why an order cannot be done as it was said
//	question.go, scope.go,   a question: what is left out, what is asked, about what, place by place or not,
//	meant.go, times.go,      and how it was put
//	topic.go, op.go,
//	settle.go, rows.go,
//	manner.go
//	separate.go, clause.go,  several questions in a message, and clauses that only say why it is asked
//	clausewhy.go
//	follow.go                what a sentence takes from the one before
//
// The result is a [Frame]. The reader of questions claims every word for a field of the frame. A word that means something and
// was claimed for none makes the frame [Unclear], which names it: an answer without it would be one to another question. So an
// operator that nobody obeyed (not, except, only, per) never gets lost, nor does a noun that the building does not have.
//
// Names are data of devices and installers: they are compared with words, and nothing in them is ever read as an order. The
// package knows no store and no clock; the same words at the same time give the same frame.
//
// testdata has sentences with what should be understood. Those in shut.tsv are kept shut: nobody mends the grammar by them, and once
// they were looked at, others take their place. "go test -v -run Sets ./platform/understand" prints both rates of all.
package understand
