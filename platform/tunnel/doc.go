// Package tunnel is the door through which a controller's public API is reached from anywhere, at a host name of its own.
//
//	https://<controller>.<domain>/svc/api/…  ─▶ room ─▶ MQTT ─▶ controller, which asks for its own tokens
//
// Nobody is let in here: what a token is good for, only the controller knows. The room sees to it that strangers
// cannot hold a controller up. A token counts as a stranger's until the controller has accepted it once.
package tunnel
