// Package gate stands before all rooms: it finds out who asks, counts the request,
// and tells in every answer how many are left.
//
//	request ─▶ Pass: whose key or token? ─▶ count ─▶ guard of the route ─▶ room
//	                                          │ 429      │ 401, 403
//
// Only what is below /api/ is counted, once, whatever becomes of it; refusals with 429
// are not. A request counts on its key, on the user who logged in, or, if there is
// neither or it is not good, on the address it came from. A room may count by
// itself what only it can tell apart ([Gate.Charge]).
package gate
