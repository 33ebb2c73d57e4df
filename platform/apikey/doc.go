// Package apikey is the room where people look after their API keys.
//
// # States
//
//	         expiresAt passes          later expiresAt
//	Active ─────────────────▶ Expired ────────────────▶ Active
//	Active ─── isActive false ──▶ Revoked ── isActive true ──▶ Active, until expiresAt
//	any ──── DELETE ──▶ Revoked for good
//	any ──── DELETE ?permanent=true ──▶ no record
//
// A revoked key stays so when its expiresAt passes or is moved. isActive cannot be set
// on what has expired or was revoked for good: 409.
//
// Bodies are {"success":true,"data":…}. The value of a key is in the answer to its
// creation and nowhere else.
package apikey
