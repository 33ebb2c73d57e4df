// Package login is the room where people become somebody: with a password that is
// kept here, or by an identity provider that vouches for them.
//
// # Our own login
//
// POST /api/auth/login takes a username and a password, and gives a token for 15
// minutes and a refresh token. Each refresh gives a new one of both; using a refresh
// token twice ends its session, since one of the two who had it stole it. Tokens are
// JSON Web Tokens signed with Ed25519 (EdDSA); whoever wants to check them finds the keys
// at /.well-known/jwks.json. On every request the session is looked up as well, so a
// logout, a new password and [Store] switching a user off hold from the next one.
//
// # Keys
//
// Time is cut into slots of 90 days, each with a key of its own that is made once on
// whichever instance needs it first. The next slot's key is published a slot ahead.
//
// # Identity providers
//
// A token whose issuer is the configured one is checked by OpenID Connect's rules:
// issuer, audience, expiry and a signature by one of the provider's keys. These are
// fetched when an unknown one is named, at most once in 30 s.
//
// Browsers log in there by the code flow with PKCE: [SignOnPath] leads away, [CallbackPath]
// back. What one flow rests on is in a cookie of the browser, so any instance goes on with it.
package login
