// Package appliance is the controller told to a layman: buses, nodes, channels,
// shades and clusters, and the one path on which every command travels from a
// request to copper and back.
//
// The nouns ([Site], [Bus], [Node], [Shade], [Cluster]) say what was installed.
// A [Driver] speaks one protocol on one bus. The controller (package control below) owns
// both: it turns a [Command] into [Chain]s of [Exchange]s, runs them bus by bus with
// STOP first, commands next and polling last, and keeps the truth it learned
// in an immutable [Snapshot] that any number of readers share without a lock.
//
// Here are the nouns, the values and what a driver has to do. The package imports the standard library only. Technology (serial ports,
// Modbus, SQLite, HTTP) lives in sibling packages that import this one.
package appliance
