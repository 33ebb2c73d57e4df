package platform

import "crypto/rand"

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
	return nil
}
