package wire

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Left is where the broker puts the envelope of a message that it left out, beside those
// of the same direction: up/left, down/left.
const Left = "left"

// Root of every topic of this version.
const Root = "bms/v1"

// PlatformStatus is the retained topic that tells controllers whether the platform is there. They announce themselves
// again when it returns.
const PlatformStatus = Root + "/platform/status"

// The topics below a controller's own subtree, for [Topic].
const (
	DownWidget = "down/widget"
	DownOrder  = "down/cmd"
	DownConfig = "down/config"
	DownTunnel = "down/tunnel"
	UpStatus   = "up/status"
	UpAck      = "up/ack"
	UpState    = "up/state"
	UpTele     = "up/tele"
	UpEvent    = "up/event"
	UpPanel    = "up/panel"
	UpLedger   = "up/ledger"
	UpTunnel   = "up/tunnel"
)

var controllerID = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// CheckControllerID says what is wrong with a controller ID, which is a level of a topic and a user name: 1 to 64 of
// a–z, 0–9 and "-".
func CheckControllerID(cid string) error {
	if !controllerID.MatchString(cid) {
		return fmt.Errorf("controller ID %q: want 1 to 64 of a-z, 0-9 and -", cid)
	}
	return nil
}

// ClientID is the MQTT client ID of a controller.
func ClientID(cid string) string { return "ctl-" + cid }

// Topic is the full name of a topic in a controller's subtree.
func Topic(cid, below string) string { return Root + "/ctl/" + cid + "/" + below }

// StateTopic is where the last state of one thing is retained.
func StateTopic(cid string, kind Kind, id int64) string {
	return Topic(cid, UpState) + "/" + string(kind) + "/" + strconv.FormatInt(id, 10)
}

// SplitTopic takes a topic of a controller's subtree apart. ok is false for any other topic.
func SplitTopic(topic string) (cid, below string, ok bool) {
	rest, ok := strings.CutPrefix(topic, Root+"/ctl/")
	if !ok {
		return "", "", false
	}
	cid, below, ok = strings.Cut(rest, "/")
	return cid, below, ok && below != "" && controllerID.MatchString(cid)
}

// SplitState takes the part of a state topic after the controller ID apart.
func SplitState(below string) (kind Kind, id int64, ok bool) {
	rest, ok := strings.CutPrefix(below, UpState+"/")
	if !ok {
		return "", 0, false
	}
	k, text, ok := strings.Cut(rest, "/")
	if !ok {
		return "", 0, false
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return Kind(k), id, err == nil
}
