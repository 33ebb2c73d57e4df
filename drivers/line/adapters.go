package line

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Adapter is a serial port that is there now.
type Adapter struct {
	// Port is how a bus should name it: below serial/by-id, or rs485-pins, where it has a name that stays.
	Port string
	// Device is what that leads to now, such as /dev/ttyUSB0.
	Device string
	// Name is for people, such as "FTDI FT232R USB UART A50285BI".
	Name string
}

// Adapters lists the serial ports that are there, by name: those with a name of their own below
// root/serial/by-id, that on a board's pins, and others of the machine itself, but for the one that its console is on.
// root is /dev if it is empty. Nothing is opened.
func Adapters(root string) []Adapter {
	if root == "" {
		root = filepath.Clean(devices)
	}
	return adapters("/sys/class/tty", root)
}

func adapters(class, root string) []Adapter {
	var list []Adapter
	byID := filepath.Join(root, "serial/by-id")
	links, _ := os.ReadDir(byID) // not there: nothing is plugged in
	for _, l := range links {
		port := filepath.Join(byID, l.Name())
		if device, err := deviceAt(port); err == nil {
			list = append(list, Adapter{port, device, adapterName(l.Name())})
		}
	}
	pins := filepath.Join(root, "rs485-pins") // by the appliance's udev rule
	if device, err := deviceAt(pins); err == nil {
		list = append(list, Adapter{pins, device, "RS-485 on the board's pins"})
	}
	for _, device := range hardware(class, root) {
		if !slices.ContainsFunc(list, func(a Adapter) bool { return a.Device == device }) {
			list = append(list, Adapter{device, device, filepath.Base(device)})
		}
	}
	slices.SortFunc(list, func(a, b Adapter) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// hardware lists the terminals below root that have hardware behind them, which the kernel
// tells: a chip of the board, or an adapter that udev gave no name.
func hardware(class, root string) (list []string) {
	all, _ := os.ReadDir(class)
	active, _ := os.ReadFile(filepath.Join(class, "console/active"))
	console := strings.Fields(string(active))
	for _, tty := range all {
		at := filepath.Join(class, tty.Name())
		if _, err := os.Stat(filepath.Join(at, "device")); err != nil || slices.Contains(console, tty.Name()) {
			continue
		}
		// The type of a chip that the kernel counts on and does not find is 0; adapters have none.
		if kind, err := os.ReadFile(filepath.Join(at, "type")); err == nil && strings.TrimSpace(string(kind)) == "0" {
			continue
		}
		if device, err := deviceAt(filepath.Join(root, tty.Name())); err == nil {
			list = append(list, device)
		}
	}
	return list
}

// adapterName is what people read of a name below by-id, which is bus-MAKER_MODEL_SERIAL-ifNN-portN.
func adapterName(link string) string {
	name := strings.TrimPrefix(link, "usb-")
	name = strings.TrimSuffix(name, "-port0")
	name = strings.TrimSuffix(name, "-if00")
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' }), " ")
}

// DeviceOf is what a port leads to now: a device through all links, a socket itself. Two buses
// whose ports lead to one are on the same wires.
func DeviceOf(port string) string {
	if at, err := filepath.EvalSymlinks(port); err == nil {
		return at
	}
	return port
}
