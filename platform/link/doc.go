// Package link is the platform's side of what it and controllers say to each other over MQTT.
package link
