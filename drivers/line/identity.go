package line

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// identity is how an adapter is known again when it comes back under another
// name: by its own name below serial/by-id and by the socket it is plugged into,
// below serial/by-path. Empty for ports that have neither, and for ports
// configured by a symbolic link, which is a stable name already.
type identity struct {
	byID, byPath string // link names
	since        time.Time
}

// Some identical adapters have no serial number of their own and share one name
// below by-id. After a hub lost power both come back at nearly the same time;
// the slower must not be mistaken for the faster. Hence the socket decides where
// it can, and the pauses before something less certain is believed.
const (
	movedGrace    = time.Second     // same adapter, other socket
	replacedGrace = 5 * time.Second // same socket, other adapter
)

// remember notes by which names the device at path goes.
func (i *identity) remember(configured, path, devRoot string) {
	i.since = time.Time{}
	if info, err := os.Lstat(configured); err == nil && info.Mode()&os.ModeSymlink != 0 {
		*i = identity{}
		return
	}
	device, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	i.byID = aliasOf(filepath.Join(devRoot, "serial/by-id"), device)
	i.byPath = aliasOf(filepath.Join(devRoot, "serial/by-path"), device)
}

// aliasOf returns the link in dir that leads to device, or nothing.
func aliasOf(dir, device string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		link := filepath.Join(dir, e.Name())
		if target, err := filepath.EvalSymlinks(link); err == nil && target == device {
			return link
		}
	}
	return ""
}

// target is where a link leads; empty: nowhere, or there is none. (EvalSymlinks takes ""
// for the current directory.)
func target(link string) string {
	if link == "" {
		return ""
	}
	device, _ := filepath.EvalSymlinks(link)
	return device
}

// find returns the path to open now.
func (i *identity) find(configured, devRoot string, now time.Time) (string, error) {
	if i.byID == "" && i.byPath == "" {
		return configured, nil
	}
	if i.since.IsZero() {
		i.since = now
	}
	waited := now.Sub(i.since)
	mine, here := target(i.byID), target(i.byPath) // empty: not there
	stranger := here != "" && i.byID != "" && here != mine && aliasOf(filepath.Join(devRoot, "serial/by-id"), here) != ""
	switch {
	case mine != "" && (mine == here || i.byPath == "" || stranger):
		return mine, nil
	case here != "" && (!stranger || waited > replacedGrace):
		return here, nil
	case mine != "" && waited >= movedGrace:
		return mine, nil
	case stranger || mine != "":
		return "", errors.New("the adapter came back elsewhere or was replaced: waiting for the others to settle")
	}
	if _, err := os.Stat(configured); err == nil {
		return "", fmt.Errorf("the device at %s is not the adapter that was there before (%s); if it was replaced, restart the controller", configured, filepath.Base(i.name()))
	}
	return "", fmt.Errorf("%s is not there: is the adapter plugged in?", filepath.Base(i.name()))
}

func (i *identity) name() string {
	if i.byID != "" {
		return i.byID
	}
	return i.byPath
}
