package link

import (
	"context"
	"fmt"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// Act commands one cluster of a controller, by the same path as a panel's tap.
func (l *Link) Act(ctx context.Context, controller string, cluster int64, do platform.Action) (platform.Outcome, error) {
	action := wire.WidgetAction{PanelID: wire.ControlsPanel, Origin: wire.OriginAPI, By: platform.IdentityOf(ctx).String(), Cluster: cluster}
	slide := func(widget string, percent int) error {
		if percent < 0 || percent > 100 {
			return platform.Invalid("%d percent: want 0 to 100", percent)
		}
		action.WidgetID, action.Action, action.Value, action.Percent = widget, wire.Released, fmt.Sprint(wire.SliderOf(percent)), &percent
		return nil
	}
	var err error
	switch {
	case do.Level != nil:
		err = slide(wire.LightBrightness, *do.Level)
	case do.Position != nil:
		err = slide(wire.ShadePosition, *do.Position)
	case do.StopShade:
		action.WidgetID, action.Action = wire.ShadeStop, wire.Clicked
	default:
		err = platform.Invalid("nothing is asked for")
	}
	if err != nil {
		return platform.Outcome{}, err
	}
	ack, err := l.Send(ctx, controller, action, wire.Lifetime)
	if err != nil {
		return platform.Outcome{}, err
	}
	out := platform.Outcome{
		Done: ack.Status == wire.Applied, Detail: ack.Detail, Command: ack.Command, Things: ack.Things, Within: ack.Time(),
	}
	for _, x := range ack.Not {
		kind := platform.KindLight
		if x.Kind == wire.KindShade {
			kind = platform.KindShade
		}
		out.Not = append(out.Not, platform.Exception{Kind: kind, ID: x.ID, Name: x.Name, Why: string(x.Why)})
	}
	if out.Done && ack.Offline > 0 {
		out.Detail = Offline(ack.Offline)
	}
	if !out.Done && out.Detail == "" {
		out.Detail = string(ack.Status)
	}
	return out, nil
}

// Offline says in a sentence how many could not be reached.
func Offline(n int) string {
	if n == 1 {
		return "1 device is offline"
	}
	return fmt.Sprintf("%d devices are offline", n)
}
