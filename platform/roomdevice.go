package platform

// RoomDevice is a conferencing device, which stands for the room that it is in.
type RoomDevice struct {
	ID         string  `json:"deviceId"` // as its maker's integration lists it
	Workspace  string  `json:"workspaceName"`
	Controller string  `json:"controllerId"` // that looks after the room; empty: none is assigned
	Clusters   []int64 `json:"clusterIds"`   // what a tap or a sentence acts on
	Deployed   bool    `json:"deployed"`     // the panel is on the device
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
