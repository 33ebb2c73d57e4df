package platform

import (
	"crypto/rand"
	"encoding/hex"
	"net/url"
)

// RoomDevice is a conferencing device, which stands for the room that it is in.
type RoomDevice struct {
	ID         string  `json:"deviceId"` // as its maker's integration lists it
	Workspace  string  `json:"workspaceName"`
	Controller string  `json:"controllerId"` // that looks after the room; empty: none is assigned
	Clusters   []int64 `json:"clusterIds"`   // what a tap or a sentence acts on
	Deployed   bool    `json:"deployed"`     // the panel is on the device
	// Code is the secret that a deployed panel shows; empty while it is not deployed.
	Code string `json:"panelCode,omitempty"`
	// Macro is the version that the device's macro told last; 0: none did since the panel was deployed.
	Macro int `json:"macroVersion,omitempty"`
	// Address is where the device itself is reached, see [HostOf]; empty: nobody said.
	Address string `json:"address,omitempty"`
	// Fingerprint is the SHA-256 of the certificate that the device is known by, 64 hexadecimal digits in small letters; empty:
	// an authority has to vouch for it.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// HostOf is the host of a device's address, which is a host name or an IP address, with a port or without; [ErrInvalid] for anything
// else.
func HostOf(address string) (string, error) {
	at, err := url.Parse("https://" + address)
	if err != nil || at.Host != address || at.Hostname() == "" || len(address) > 260 {
		return "", Invalid("%q is no address of a device; want a host name or an IP address, with a port if that is not 443", address)
	}
	return at.Hostname(), nil
}

// What a person hears when something is missing before a room can be controlled.
const (
	DeviceUnknown     = "This room is not set up yet. Refresh devices and assign a controller."
	DeviceUnassigned  = "Assign a controller to the device."
	DeviceUndeployed  = "The control panel is not deployed in this room; deploy it."
	ControllerOffline = "This room's controller is offline. Check its power and its network."
)

// Missing says what has to be done before the device acts; empty: nothing.
func (d RoomDevice) Missing() string {
	switch {
	case d.Controller == "":
		return DeviceUnassigned
	case !d.Deployed:
		return DeviceUndeployed
	}
	return ""
}

// Deploy puts the panel on the device or takes it off. Each time it is put there it has another code.
func (d *RoomDevice) Deploy(on bool) {
	if on == d.Deployed && on == (d.Code != "") {
		return
	}
	d.Deployed, d.Code, d.Macro = on, "", 0
	if on {
		d.Code = rand.Text()
	}
}

// Bounds of a room device.
const (
	MaxRoomDevices  = 10_000
	MaxRoomClusters = 32
)

// Check says what is wrong with a device.
func (d RoomDevice) Check() error {
	switch {
	case d.ID == "" || len(d.ID) > 256:
		return Invalid("deviceId: want 1 to 256 characters")
	case len(d.Workspace) > 200:
		return Invalid("workspaceName: want at most 200 characters")
	case len(d.Clusters) > MaxRoomClusters:
		return Invalid("clusterIds: want at most %d", MaxRoomClusters)
	case d.Deployed && (d.Controller == "" || len(d.Clusters) == 0):
		return Conflict("a panel can be deployed once a controller and at least one cluster are assigned")
	}
	for _, id := range d.Clusters {
		if id < 1 {
			return Invalid("clusterIds: %d is no cluster", id)
		}
	}
	if b, err := hex.DecodeString(d.Fingerprint); err != nil || len(b) != 0 && len(b) != 32 {
		return Invalid("fingerprint: want the 64 hexadecimal digits of a SHA-256")
	}
	if d.Address == "" {
		return nil
	}
	_, err := HostOf(d.Address)
	return err
}
