// Package panel looks after the conferencing devices of rooms: which controller and clusters a device stands for, and
// whether the control panel is deployed on it.
package panel
