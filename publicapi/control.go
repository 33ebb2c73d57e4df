package publicapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
)

const (
	// waitingMost control calls wait at a time; beyond that 503.
	waitingMost = 64
	// waitingStops more places are kept for STOP, which must get through when the
	// others are stuck.
	waitingStops = 16
)

// Bounds of the contract.
const (
	kelvinMin   = 3000
	kelvinMax   = 5000
	keepLevel   = 101 // DL: keep the current level
	channelMost = 1<<31 - 1
)

// channelControl switches and dims.
func (a *API) channelControl(c echo.Context) error {
	in, cmd, err := command(c)
	if err != nil {
		return err
	}
	channel, present, err := in.integer("channelId")
	if err != nil {
		return err
	}
	if present && (channel < 0 || channel > channelMost) {
		return bad("channelId", "want 0 (all channels) or a channel number from 1")
	}
	cmd.Channel = int(channel)
	word, err := in.oneOf("command", "ON", "OFF", "DIM")
	if err != nil {
		return err
	}
	switch word {
	case "ON":
		cmd.Kind = appliance.LightOn
	case "OFF":
		cmd.Kind = appliance.LightOff
	case "DIM":
		level, err := in.within("dimLevel", 0, 100)
		if err != nil {
			return err
		}
		cmd.Kind, cmd.Level = appliance.LightLevel, appliance.Level(level)
		if level == 0 {
			cmd.Kind = appliance.LightOff
		}
	}
	return a.perform(c, cmd)
}

// setColorTemp tunes white light. The value is clamped, however far off it is.
func (a *API) setColorTemp(c echo.Context) error {
	in, cmd, err := command(c)
	if err != nil {
		return err
	}
	kelvin, present, err := in.integer("colorTemp")
	if err != nil {
		return err
	}
	if !present {
		return bad("colorTemp", "missing; want "+span(kelvinMin, kelvinMax)+", in kelvin")
	}
	cmd.Kind, cmd.Kelvin = appliance.LightKelvin, appliance.Kelvin(min(max(kelvin, kelvinMin), kelvinMax))
	return a.perform(c, cmd)
}

// setRGBW sets a colour, and the level unless DL is 101 or absent.
func (a *API) setRGBW(c echo.Context) error {
	in, cmd, err := command(c)
	if err != nil {
		return err
	}
	var parts [4]uint8
	for i, name := range [4]string{"R", "G", "B", "W"} {
		v, err := in.within(name, 0, 255)
		if err != nil {
			return err
		}
		parts[i] = uint8(v)
	}
	cmd.Kind, cmd.KeepLevel = appliance.LightRGBW, true
	cmd.RGBW = appliance.RGBW{R: parts[0], G: parts[1], B: parts[2], W: parts[3]}
	if _, present, err := in.integer("DL"); present || err != nil {
		level, err := in.within("DL", 0, keepLevel)
		if err != nil {
			return err
		}
		if level != keepLevel {
			cmd.KeepLevel, cmd.Level = false, appliance.Level(level)
		}
	}
	return a.perform(c, cmd)
}

// shadeControl moves shades.
func (a *API) shadeControl(c echo.Context) error {
	in, cmd, err := command(c)
	if err != nil {
		return err
	}
	word, err := in.oneOf("command", "UP", "DOWN", "STOP", "POS")
	if err != nil {
		return err
	}
	switch word {
	case "UP":
		cmd.Kind = appliance.ShadeOpen
	case "DOWN":
		cmd.Kind = appliance.ShadeClose
	case "STOP":
		cmd.Kind = appliance.ShadeStop
	case "POS":
		pos, err := in.within("posValue", 0, 100)
		if err != nil {
			return err
		}
		cmd.Kind = appliance.ShadeMoveTo
		cmd.Position = turned(appliance.Position(pos), a.core.Snapshot().Site.Settings.InvertShades)
	}
	return a.perform(c, cmd)
}

// command begins a command with what all four have: body, target, origin.
func command(c echo.Context) (body, appliance.Command, error) {
	in, err := readBody(c, bodyLimit)
	if err != nil {
		return nil, appliance.Command{}, err
	}
	t, present, err := target(in)
	if err != nil {
		return nil, appliance.Command{}, err
	}
	if !present {
		return nil, appliance.Command{}, bad("targetType", "missing; want 1 (all), 2 (cluster) or 3 (one)")
	}
	who, _ := web.CallerOf(c)
	return in, appliance.Command{Target: t, Origin: appliance.Origin{Who: who.Name, Via: "public-api"}}, nil
}

// perform has the core do cmd and answers with its outcome.
func (a *API) perform(c echo.Context, cmd appliance.Command) error {
	places := int64(waitingMost)
	if cmd.Kind == appliance.ShadeStop {
		places += waitingStops
	}
	defer a.waiting.Add(-1)
	if a.waiting.Add(1) > places {
		return overloaded(nil)
	}
	// A client that hangs up does not undo what it asked for: half a group moved
	// would be worse. The core gives up by itself, after 10 s at the latest.
	ctx := context.WithoutCancel(c.Request().Context())
	start := time.Now()
	entry, err := a.core.Do(ctx, cmd)
	ok := err == nil && entry.OK()
	a.metrics.observe(cmd.Kind, ok, time.Since(start))
	if entry.ID != "" {
		c.Response().Header()["X-Command-Id"] = []string{entry.ID}
	}
	switch {
	case errors.Is(err, appliance.ErrOverloaded):
		return overloaded(err)
	case errors.Is(err, appliance.ErrOutOfRange):
		return err
	case err != nil && !fails(err):
		return err
	}
	b := append([]byte(nil), `{"status":1`...)
	if !ok {
		b = append(b[:0], `{"status":0,"message":`...)
		b = web.AppendJSONString(b, failure(entry, err))
	}
	if cmd.Kind.IsShade() {
		b = append(b, `,"shadeState":"`...)
		b = append(b, shadeState(motionOf(a.core.Snapshot(), cmd.Target))...)
		b = append(b, '"')
	}
	return sendFresh(c, http.StatusOK, append(b, '}'))
}

func overloaded(cause error) error {
	return &web.Error{Status: http.StatusServiceUnavailable, Cause: cause,
		Message: "too many control calls are waiting; nothing was done", RetryAfter: time.Second}
}

// failure words why a command is not a success; the core tells how many members
// failed it, and the first of them.
func failure(entry appliance.Entry, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case entry.Err != "":
		return entry.Err
	}
	return "the outcome is not known"
}
