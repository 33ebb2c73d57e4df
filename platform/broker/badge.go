package broker

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"svc.internal/controller/cloud/wire"
)

// role of a client.
type role string

const (
	rolePlatform    role = "platform"
	roleController  role = "controller"
	roleIntegration role = "integration"
)

// badge is what the door tells nats-server of somebody whom it let in.
type badge struct {
	role       role
	controller string // empty for the platform
}

// name and proof are user name and password on the way from the door to nats-server.
func (b badge) name() string { return string(b.role) + " " + b.controller }

func (b badge) proof(secret [32]byte) string {
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte(b.name()))
	return hex.EncodeToString(mac.Sum(nil))
}

// permissions in the words of nats-server, whose levels are parted by dots.
func (b badge) permissions() *server.Permissions {
	own := strings.ReplaceAll(wire.Topic(b.controller, ""), "/", ".")
	// A filter a/# is one for a itself, too.
	down := []string{own + "down", own + "down.>"}
	status := strings.ReplaceAll(wire.PlatformStatus, "/", ".")
	switch b.role {
	case rolePlatform:
		root := strings.ReplaceAll(wire.Root, "/", ".") + ".>"
		return allow([]string{root}, []string{root})
	case roleController:
		return allow([]string{own + "up.>"}, append(down, status))
	case roleIntegration:
		p := allow([]string{own + "down.>"}, []string{strings.TrimSuffix(own, "."), own + ">", own + "up", own + "down", status})
		// What people send through the tunnel holds their passwords.
		tunnel := []string{own + strings.ReplaceAll(wire.DownTunnel, "/", "."), own + strings.ReplaceAll(wire.UpTunnel, "/", ".")}
		p.Publish.Deny, p.Subscribe.Deny = tunnel, tunnel
		return p
	}
	return allow(nil, nil)
}

func allow(publish, subscribe []string) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: orNothing(publish)},
		Subscribe: &server.SubjectPermission{Allow: orNothing(subscribe)},
	}
}

// orNothing allows a subject that nobody uses: an empty list would allow everything.
func orNothing(list []string) []string {
	if len(list) == 0 {
		return []string{"nothing"}
	}
	return list
}

// insider admits what comes through the door, and nothing else.
type insider struct{ secret [32]byte }

// Check implements nats-server's authentication.
func (i *insider) Check(c server.ClientAuthentication) bool {
	opts := c.GetOpts()
	kind, controller, ok := strings.Cut(opts.Username, " ")
	b := badge{role(kind), controller}
	if !ok || !hmac.Equal([]byte(opts.Password), []byte(b.proof(i.secret))) {
		return false
	}
	c.RegisterUser(&server.User{Username: opts.Username, Permissions: b.permissions()})
	return true
}
