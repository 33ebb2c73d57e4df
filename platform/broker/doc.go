// Package broker is the MQTT broker inside platformd.
//
// The broker itself is nats-server, which speaks MQTT 3.1.1, bounds what it stores and can become a cluster. It listens
// on loopback only. In front of it stands a door: it speaks TLS, looks at the CONNECT packet, proves who comes, sees to
// it that a controller uses its own client ID and its own will (nats-server asks nobody whether a will may be published),
// and ends connections whose credential was revoked. What passes the door is told to nats-server with a secret of this
// process, so that nothing else on the machine gets in, and nats-server keeps everybody to their own subtree.
package broker
