package link

import (
	"fmt"
	"strings"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// MosquittoPasswords is a password file for Mosquitto with these credentials.
func MosquittoPasswords(all []platform.Credential) string {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "%s:%s\n", c.Username, c.Mosquitto)
	}
	return b.String()
}

// MosquittoACL is an ACL file for Mosquitto: controllers by pattern, everybody else by name. Mosquitto applies patterns
// to every user; those of an integration match nothing that there is, as no controller has its name. What
// people send through the tunnel, which holds their passwords, is kept from integrations.
func MosquittoACL(platformUser string, all []platform.Credential) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# written by platformd: changes are lost\n\nuser %s\ntopic readwrite %s/#\n", platformUser, wire.Root)
	for _, c := range all {
		if c.Integration {
			own := wire.Topic(c.Controller, "")
			fmt.Fprintf(&b, "\nuser %s\ntopic deny %s%s\ntopic deny %s%s\ntopic write %sdown/#\ntopic read %s#\ntopic read %s\n",
				c.Username, own, wire.DownTunnel, own, wire.UpTunnel, own, own, wire.PlatformStatus)
		}
	}
	fmt.Fprintf(&b, "\npattern read %s\npattern write %s\npattern read %s\n",
		wire.Topic("%u", "down/#"), wire.Topic("%u", "up/#"), wire.PlatformStatus)
	return b.String()
}
