package panel

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sse"
	"svc.internal/controller/shelf/trust"
	"svc.internal/controller/shelf/web"
)

// RollOutPath is where administrators have macro and panel put onto devices.
const RollOutPath = "/api/conferencing/rollout"

const (
	// rollOutMost devices are in one roll-out, and rollOutAtOnce of them are spoken to at once.
	rollOutMost, rollOutAtOnce = 500, 16
	// rollOutWithin bounds what is done with one device.
	rollOutWithin = 5 * time.Minute
	// askWithin is how long a macro may take from its start to its first question; it asks every 20 s.
	askWithin = 45 * time.Second
)

// Visit is a device that is spoken to, and as whom.
type Visit struct {
	Address     string // host, or host:port
	Fingerprint string // SHA-256 of its certificate; empty: an authority vouches for it
	Username    string // of an administrator of the device
	Password    string
}

// Installer speaks to RoomOS devices themselves. Its errors are fit for administrators and tell no secret; that of a device whose
// certificate is not known is a [trust.Untrusted].
type Installer interface {
	Install(ctx context.Context, v Visit, k Kit, allowHost bool) error
	Remove(ctx context.Context, v Visit) error
	// Networks are where devices may be.
	Networks() []netip.Prefix
}

// rollOut is what somebody asks for.
type rollOut struct {
	Action    string   `json:"action"` // install, or remove
	Devices   []string `json:"deviceIds"`
	Username  string   `json:"username"`
	Password  string   `json:"password"`
	Platform  string   `json:"platform"`  // by which devices reach us; empty: as whoever asks
	AllowHost bool     `json:"allowHost"` // add the platform to the hosts that macros may ask
	Forget    bool     `json:"forget"`    // devices that are removed
}

// visit is one device of a roll-out.
type visit struct {
	Visit
	device string
	kit    Kit // of an installation
}

// stage is how far a device of a roll-out is.
type stage struct {
	Device string `json:"deviceId"`
	// Is begun, then installed, removed, untrusted or failed. After installed comes asks, with the version that the macro told, or
	// quiet: it has not asked in time.
	Is    string `json:"is"`
	Macro int    `json:"macroVersion,omitempty"`
	// Fingerprint of the certificate that an untrusted device showed.
	Fingerprint string `json:"fingerprint,omitempty"`
	Error       string `json:"error,omitempty"`
}

// reach answers where roll-outs may go.
func (r *Room) reach(c echo.Context) error {
	networks := []netip.Prefix{}
	if r.cfg.Installer != nil {
		networks = append(networks, r.cfg.Installer.Networks()...)
	}
	return answer(c, http.StatusOK, struct {
		Networks []netip.Prefix `json:"networks"`
		Newest   int            `json:"macroNewest"`
	}{networks, MacroVersion})
}

// rollOut streams what becomes of each device. Credentials are kept as long as it takes, and nowhere but here. If whoever asked
// leaves, the devices that were begun are finished, and no more are begun.
func (r *Room) rollOut(c echo.Context) error {
	if r.cfg.Installer == nil {
		return platform.Conflict("the platform may ask no device; its operator names their networks with ROOMOS_NETWORKS")
	}
	var in rollOut
	if err := readBody(c, &in); err != nil {
		return err
	}
	all, err := r.visits(c, in)
	if err != nil {
		return err
	}
	if !r.rolling.TryLock() {
		return platform.Conflict("another roll-out is under way; wait for its end")
	}
	defer r.rolling.Unlock()

	reader := c.Request().Context()
	ctx, cancel := context.WithCancel(context.WithoutCancel(reader))
	defer cancel()
	go func() {
		select {
		case <-r.cfg.Ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	s := sse.Open(c)
	defer s.Close()
	tell := func(st stage) { _ = s.Send("device", st) } // whoever left is told nothing
	who, _ := web.CallerOf(c)
	places := make(chan struct{}, rollOutAtOnce)
	var wg sync.WaitGroup
	begun := 0
begin:
	for _, v := range all {
		if reader.Err() != nil {
			break
		}
		select {
		case places <- struct{}{}:
		case <-reader.Done():
			break begin
		case <-ctx.Done():
			break begin
		}
		begun++
		wg.Go(func() {
			tell(stage{Device: v.device, Is: "begun"})
			st := r.visit(ctx, in, v)
			<-places
			r.cfg.Log.Info("roll-out", "who", who.Name, "action", in.Action, "device", v.device, "address", v.Address, "is", st.Is, "why", st.Error)
			tell(st)
			if st.Is == "installed" {
				tell(r.asked(reader, v.device))
			}
		})
	}
	wg.Wait()
	_ = s.Send("end", map[string]int{"left": len(all) - begun})
	return nil
}

// visits finds everything that is wrong before any device is asked.
func (r *Room) visits(c echo.Context, in rollOut) ([]visit, error) {
	install := in.Action == "install"
	switch {
	case !install && in.Action != "remove", len(in.Devices) == 0, len(in.Devices) > rollOutMost:
		return nil, platform.Invalid("want action install or remove, and 1 to %d deviceIds", rollOutMost)
	case in.Username == "" || in.Password == "" || strings.Contains(in.Username, ":"):
		return nil, platform.Invalid("username and password of the devices are needed; a user name has no colon")
	}
	if in.Platform == "" {
		in.Platform = "https://" + c.Request().Host
	}
	var all []visit
	at := map[string]string{} // whose address it is
	for _, id := range in.Devices {
		d, err := r.cfg.Store.RoomDevice(c.Request().Context(), id)
		if errors.Is(err, platform.ErrNotFound) {
			return nil, platform.Invalid("there is no device %q", id)
		}
		if err != nil {
			return nil, err
		}
		if d.Address == "" {
			return nil, platform.Conflict("no address of device %q is known; enter it first", id)
		}
		if other, taken := at[d.Address]; taken {
			return nil, platform.Conflict("devices %q and %q have the same address", other, id)
		}
		at[d.Address] = id
		v := visit{device: id, Visit: Visit{Address: d.Address, Fingerprint: d.Fingerprint, Username: in.Username, Password: in.Password}}
		if install {
			if v.kit, err = NewKit(d, in.Platform, r.cfg.Certificate()); err != nil {
				return nil, err
			}
		}
		all = append(all, v)
	}
	return all, nil
}

// visit does with one device what was asked for.
func (r *Room) visit(ctx context.Context, in rollOut, v visit) stage {
	ctx, cancel := context.WithTimeout(ctx, rollOutWithin)
	defer cancel()
	st := stage{Device: v.device, Is: "installed"}
	var err error
	if in.Action == "install" {
		err = r.cfg.Installer.Install(ctx, v.Visit, v.kit, in.AllowHost)
	} else {
		st.Is = "removed"
		err = r.cfg.Installer.Remove(ctx, v.Visit)
	}
	if err == nil && in.Forget && in.Action == "remove" {
		err = r.forget(ctx, v.device)
	} else if err == nil {
		// What its macro told is of before; the one that was started says it anew.
		_, err = r.cfg.Store.ChangeRoomDevice(ctx, v.device, func(d *platform.RoomDevice) error { d.Macro = 0; return nil })
	}
	var untrusted *trust.Untrusted
	switch {
	case errors.As(err, &untrusted):
		return stage{Device: v.device, Is: "untrusted", Fingerprint: untrusted.Fingerprint, Error: untrusted.Err.Error()}
	case err != nil:
		return stage{Device: v.device, Is: "failed", Error: err.Error()}
	}
	return st
}

// asked waits for the first question of a macro that was just started.
func (r *Room) asked(ctx context.Context, device string) stage {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		if d, err := r.cfg.Store.RoomDevice(ctx, device); err == nil && d.Macro != 0 {
			return stage{Device: device, Is: "asks", Macro: d.Macro}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return stage{Device: device, Is: "quiet"}
		case <-r.cfg.Ending:
			return stage{Device: device, Is: "quiet"}
		}
	}
}
