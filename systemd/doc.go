// Package systemd is what the daemons say to the service manager that runs them: that they are ready, that they are alive,
// and which sockets it opened for them. The units that ask for it lie beside it.
package systemd
