// Package link is the controller's side of what it and the platform say to each other over MQTT.
//
// A follower compares snapshots of the core and puts what differs into the outbox, whether there is a session or not; a
// session with the broker empties it. Everything in the outbox is bounded, and the core is only ever read, so that a
// broker that is slow, away or mad costs memory up to a bound and nothing else. After each birth the whole state is sent
// again, so that no receiver has to rely on what was said before.
package link
