package roomos

import (
	"context"
	"net/netip"

	"svc.internal/controller/platform/panel"
	"svc.internal/controller/shelf/trust"
)

// Fleet implements [panel.Installer] for the devices in some networks.
type Fleet struct {
	Within []netip.Prefix // a device at an address in none of these is sent nothing, see [Outside]
	CA     []byte         // PEM: who signed the certificates of devices without a fingerprint; nil: the system's authorities
}

var _ panel.Installer = Fleet{}

// Install puts panel and macro of a kit onto a device, see [Device.Install].
func (f Fleet) Install(ctx context.Context, v panel.Visit, kit panel.Kit, allowHost bool) error {
	return f.visit(v, func(d *Device) error { return d.Install(ctx, kit, allowHost) })
}

// Remove takes panel and macro off a device.
func (f Fleet) Remove(ctx context.Context, v panel.Visit) error {
	return f.visit(v, func(d *Device) error { return d.Remove(ctx) })
}

// Networks are those of f.Within.
func (f Fleet) Networks() []netip.Prefix { return f.Within }

func (f Fleet) visit(v panel.Visit, do func(*Device) error) error {
	d, err := New(v.Address, v.Username, v.Password, trust.Trust{CA: f.CA, Fingerprint: v.Fingerprint})
	if err != nil {
		return err
	}
	defer d.Close()
	d.within(f.Within)
	return do(d)
}
