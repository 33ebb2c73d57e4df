package platform

import "time"

// Window is how long requests are counted together.
const Window = 15 * time.Minute

// Limits of whoever sends no key.
const (
	UserRateLimit    = 200
	AddressRateLimit = 20
)

// Bucket is what requests are counted in.
type Bucket struct {
	ID     string // such as "key:" and the key's ID
	Limit  int    // requests in a window
	Window time.Duration
	// Stranger buckets are made by anybody who asks, so there may be any number of
	// them: they are forgotten first.
	Stranger bool
}

// KeyBucket counts the requests of a key.
func KeyBucket(k Key) Bucket { return Bucket{ID: "key:" + k.ID, Limit: k.RateLimit, Window: Window} }

// UserBucket counts the requests of a user who logged in.
func UserBucket(u User) Bucket {
	return Bucket{ID: "user:" + u.ID, Limit: UserRateLimit, Window: Window}
}

// What the assistant spends on one key or user in a window.
const (
	// AnswerBytes is how much it answers at least; whoever may ask much has answerPerRequest
	// for each request.
	AnswerBytes      = 64 << 20
	answerPerRequest = 16 << 10
	// modelPerRequest is how many requests to a language model a counted one may cause, on
	// average: one for each part of a message that the rules do not read.
	modelPerRequest = 3
	// ModelTokens is how much of a language model it has a day at least, in tokens read and
	// written; whoever may ask much has tokensPerRequest for each request of its limit.
	ModelTokens      = 1_000_000
	tokensPerRequest = 10_000
	day              = 24 * time.Hour
)

// Answers counts the bytes that the assistant answers to whom b counts.
func (b Bucket) Answers() Bucket {
	b.ID, b.Limit = "answers:"+b.ID, max(AnswerBytes, answerPerRequest*b.Limit)
	return b
}

// Model counts the requests to a language model on behalf of whom b counts.
func (b Bucket) Model() Bucket {
	b.ID, b.Limit = "model:"+b.ID, modelPerRequest*b.Limit
	return b
}

// Tokens counts what a language model costs on behalf of whom b counts, by the day.
func (b Bucket) Tokens() Bucket {
	b.ID, b.Limit, b.Window = "tokens:"+b.ID, max(ModelTokens, tokensPerRequest*b.Limit), day
	return b
}

// Allowance is what became of one request.
type Allowance struct {
	OK        bool
	Limit     int
	Remaining int       // in this window; 0 if none
	Reset     time.Time // when the window ends
	Window    time.Duration
}
