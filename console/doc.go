// Package console is the local door of a running daemon: what the command line
// asks of it over a Unix socket in its data directory.
//
// Whoever may open the socket (mode 0600: the daemon's user and root) may look at
// every bus and search it for devices, and move a shade to find out about it. It is not reachable from the network and
// has no accounts. Answers are JSON; those that go on are one JSON object a line.
package console

// SocketName is the socket's file name in the data directory.
const SocketName = "console.sock"
