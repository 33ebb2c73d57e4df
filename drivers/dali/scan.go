package dali

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/scan"
)

// Scan listens whether somebody talks without being asked, then asks every short
// address whether somebody is there and what it is, and at last whether there is gear
// without an address. An answer that is garbled again and again means that several
// gears share an address: each is asked for what two gears hardly have in common,
// their random address among it. While somebody else talks, garbled answers say so
// only where other gears' come through.
func (d *Driver) Scan(opts appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	first, last := max(opts.First, 0), opts.Last
	if last <= 0 || last >= Shorts {
		last = Shorts - 1
	}
	return scan.Steps(func(c *scan.Course) {
		s := &search{Course: c, driver: d, heard: newEavesdropper(d.wire)}
		c.Overhear(d.wire.line.Recent, s.heard.take)
		if opts.AllSettings {
			s.Tell(appliance.Found{Finding: appliance.FoundNote,
				Detail: "DALI has one bit rate; the settings of the port are those of its gateway"})
		}
		if opts.FindOut != nil {
			s.findOut()
			return
		}
		s.listen()
		for n := first; n <= last && !s.Over() && !s.blind(); n++ {
			s.gear(n)
		}
		if s.Over() || s.blind() {
			return
		}
		s.strangers()
		s.judge()
		if !s.met && first == 0 && last == Shorts-1 {
			s.Tell(appliance.Found{Finding: appliance.FoundHindered, Detail: "NOBODY ANSWERED: all short addresses were asked, and gear without one",
				Advice: "check the two DALI wires, the power supply of the line and the mains of the gear"})
		}
	})
}

// findOut tells whether a gateway of this kind is there: it has to confirm some questions, or say
// what is wrong with its line. The first one may be lost: it may end what another driver's questions
// began, as of an ATX HAT, which reads lines.
func (s *search) findOut() {
	const enough = 3
	for i := range 1 + enough {
		_, err := s.send("gateway", Command(Short(0), OpQueryPresent))
		var complains *gatewayError
		switch {
		case errors.As(err, &complains):
			s.Tell(appliance.Found{Gateway: true, Detail: "a DALI gateway, and " + err.Error()})
			return
		case err != nil && i > 0:
			return
		}
	}
	s.Tell(appliance.Found{Gateway: true, Detail: "a DALI gateway, which confirms what it is asked"})
}

// Tell shows the installer something. Somebody is there, unless it is a note or says that
// nobody is.
func (s *search) Tell(f appliance.Found) {
	s.met = s.met || f.Finding != appliance.FoundNote && f.Finding != appliance.FoundSilent
	s.Course.Tell(f)
}

// search is a scan under way.
type search struct {
	*scan.Course
	driver *Driver
	lost   int // questions in a row that could not be asked
	heard  *eavesdropper
	noisy  bool // somebody talks all the time
	met    bool // somebody was found, gear or not
	// clean is how many gears told what two hardly have in common; suspects have
	// answers that were garbled every time, while somebody talked.
	clean    int
	suspects []appliance.Found
}

// send has frames sent that belong together, and returns what was answered.
func (s *search) send(address string, seq ...Send) (answers []Answer, err error) {
	_, err = s.Ask(address, s.driver.probe(seq, &answers))
	s.heard.sent += len(seq)
	s.noisy = s.noisy || s.heard.constant()
	s.despair(err)
	return answers, err
}

// probe is an exchange of frames that belong together.
func (d *Driver) probe(seq []Send, got *[]Answer) appliance.Exchange {
	return appliance.Exchange{
		Airtime: d.wire.airtime(seq...), Worst: d.wire.worst(seq...),
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			answers, sent, err := d.wire.transmit(ctx, y, seq...)
			*got = answers
			return appliance.Result{Sent: sent}, err
		},
	}
}

// resident is what a scan learned of an address.
type resident struct {
	short   int
	noisy   bool // somebody talks all the time: what is garbled may not have come from here
	send    func(seq ...Send) ([]Answer, error)
	asked   int
	garbled int
	// stubborn questions had a garbled answer every time.
	stubborn int
}

// Tries of a question: of one that got no answer, although the site has gear there,
// of one whose answer was garbled, to tell chance from several gears, and, while
// somebody talks, of the one whether somebody is there: so many of presenceAsks have
// to be answered with a yes, which is what other questions hardly get.
const (
	knownTries    = 3
	garbledTries  = 8
	presenceAsks  = 6
	presenceLeast = 2
)

// ask asks one gear; ok is false if it gave no value.
func (r *resident) ask(op byte, before ...Send) (value byte, ok bool) {
	seq := append(before, Command(Short(r.short), op))
	garbled := 0
	for range garbledTries {
		got, err := r.send(seq...)
		if err != nil {
			if errors.Is(err, scan.ErrOver) || errors.Is(err, context.Canceled) {
				return 0, false
			}
			continue
		}
		r.asked++
		switch a := got[len(got)-1]; a.Kind {
		case AnswerValue:
			return a.Value, true
		case AnswerGarbled:
			r.garbled++
			garbled++
		default:
			if garbled == 0 || r.noisy {
				return 0, false
			}
			// Somebody did answer before.
		}
	}
	if garbled > garbledTries/2 {
		r.stubborn++ // none got through
	}
	return 0, false
}

// present asks again whether somebody is there: while others talk, what came may have
// been meant for them.
func (r *resident) present() bool {
	yes := 0
	for range presenceAsks {
		if v, ok := r.ask(OpQueryPresent); ok && v == Mask {
			yes++
		}
	}
	return yes >= presenceLeast
}

// gear looks who is at one address.
func (s *search) gear(n int) {
	known := s.driver.gearAt(n)
	r := &resident{short: n, noisy: s.noisy, send: func(seq ...Send) ([]Answer, error) { return s.send(gearKey(n), seq...) }}
	status, there := r.ask(OpQueryStatus)
	for i := 1; !there && known != nil && r.garbled == 0 && i < knownTries; i++ {
		status, there = r.ask(OpQueryStatus)
	}
	there = there && (!s.noisy || r.present())
	f := appliance.Found{Address: gearKey(n)}
	switch {
	case s.Over():
		return
	case r.stubborn > 0:
	case !there && known != nil:
		f.Finding, f.Detail = appliance.FoundSilent, "does not answer"
		f.Advice = "check its mains and its two DALI wires; if it was replaced, commission the new one"
		if s.noisy {
			f.Detail += ", or somebody else's frames were in the way of its answers each time"
			f.Advice = "find out who talks on this line, and scan again"
		}
		s.Tell(f)
		return
	case !there:
		return
	}
	var words []string
	if there {
		words = append(words, describeStatus(status))
	}
	if s.noisy {
		words = append(words, "what it is, and whether it is alone, cannot be told while somebody talks on this line")
		r.askRandom()
	} else {
		words = append(words, r.describe(&f)...)
	}
	f.Detail = strings.Join(words, "; ")
	switch {
	case s.Over():
		return
	case s.noisy && r.stubborn > 0:
		f.Kind, f.Options, f.Groups = "", nil, nil
		f.Finding = appliance.FoundDamaged
		f.Detail = fmt.Sprintf("%d of %d answers were garbled: somebody talks on this line, and it cannot be told whether several gears share this address", r.garbled, r.asked)
		f.Advice = "find out who talks on this line, and scan again"
		s.suspects = append(s.suspects, f)
	case r.stubborn > 0:
		f.Kind, f.Options, f.Groups = "", nil, nil
		f.Finding = appliance.FoundCollision
		f.Detail = fmt.Sprintf("SEVERAL GEARS share this address: %d answers were garbled, since they answer at once", r.garbled)
		f.Advice = "commissioning gives them addresses of their own"
	case known != nil && !s.noisy && !fits(known.kind, f.Kind):
		f.Finding = appliance.FoundProfile
		f.Detail = fmt.Sprintf("is not the %s that the site says: %s", known.kind, f.Detail)
		f.Advice = "change the profile in the site file, or look whether the right gear has this address"
	case r.garbled > 0:
		f.Detail += fmt.Sprintf("; %d of %d answers were garbled: check the line", r.garbled, r.asked)
	}
	if there && r.stubborn == 0 {
		s.clean++
	}
	s.Tell(f)
}

// fits reports whether gear of one kind can be driven as another: dimmable gear of any
// kind has a level.
func fits(site, gear string) bool {
	return site == gear || site == "dali-dt6" && gear != "dali-switch"
}

// describe asks a gear what it is, and what a site file should say of it.
func (r *resident) describe(f *appliance.Found) []string {
	deviceType, told := r.ask(OpQueryDeviceType)
	colour, coloured := r.ask(OpColourTypes, enableColour)
	kind, what := kindOf(answerOf(deviceType, told), answerOf(colour, coloured))
	f.Kind = kind
	words := []string{what}
	low, hasLow := r.ask(OpQueryMin)
	high, hasHigh := r.ask(OpQueryMax)
	c := curves["standard"]
	options := map[string]string{}
	if hasLow && hasHigh {
		words = append(words, fmt.Sprintf("levels %d to %d (%d to %d %%)", low, high, c.levelOf(low), c.levelOf(high)))
		if level := c.levelOf(low); level > 1 && kind != "dali-switch" {
			options["minLevel"] = strconv.Itoa(int(level))
		}
	}
	if code, ok := r.ask(OpQueryFade); ok && code>>4 > 0 && kind != "dali-switch" {
		fade := fadeTime(code >> 4)
		options["fade"] = fade.String()
		words = append(words, "fades for "+fade.String())
	}
	if len(options) > 0 {
		f.Options = options
	}
	for i, op := range []byte{OpQueryGroupsLow, OpQueryGroupsHigh} {
		bits, _ := r.ask(op)
		for bit := range 8 {
			if bits&(1<<bit) != 0 {
				f.Groups = append(f.Groups, strconv.Itoa(8*i+bit))
			}
		}
	}
	if len(f.Groups) > 0 {
		words = append(words, "in groups "+strings.Join(f.Groups, " "))
	}
	r.askRandom()
	return words
}

// askRandom asks for the random address, to which two gears answer differently.
func (r *resident) askRandom() {
	for _, op := range []byte{OpQueryRandomHigh, OpQueryRandomMid, OpQueryRandomLow} {
		r.ask(op)
	}
}

func answerOf(v byte, ok bool) Answer {
	if !ok {
		return Answer{}
	}
	return Answer{Kind: AnswerValue, Value: v}
}

// fadeTime of a code from 1 to 15: 0.5·√(2^code) s (IEC 62386-102, 9.5).
func fadeTime(code byte) time.Duration {
	return time.Duration(math.Round(5*math.Sqrt(math.Pow(2, float64(code))))) * 100 * time.Millisecond
}

// gearAt is the gear that the site has at a short address; nil: none.
func (d *Driver) gearAt(short int) *gear {
	for _, g := range d.known() {
		if g.short == short {
			return g
		}
	}
	return nil
}

func describeStatus(s byte) string {
	words := []string{"answers"}
	for _, b := range []struct {
		bit  byte
		word string
	}{{StatusGearFailure, "gear failure"}, {StatusLampFailure, "lamp failure"}, {StatusLampOn, "lamp on"}, {StatusReset, "in reset state"}, {StatusPowerCycled, "power was cycled"}} {
		if s&b.bit != 0 {
			words = append(words, b.word)
		}
	}
	return strings.Join(words, ", ")
}

// kindOf guesses the profile from the device type and the colour types.
func kindOf(deviceType, colour Answer) (kind, detail string) {
	if colour.Kind == AnswerValue {
		switch {
		case colour.Value>>5 >= 3:
			return "dali-dt8-rgbw", fmt.Sprintf("device type 8, %d colour channels", colour.Value>>5)
		case colour.Value&2 != 0:
			return "dali-dt8-tc", "device type 8, colour temperature"
		}
	}
	if deviceType.Kind != AnswerValue {
		return "dali-dt6", "device type not told"
	}
	switch deviceType.Value {
	case deviceTypeLED:
		return "dali-dt6", "device type 6, LED"
	case deviceTypeSwitch:
		return "dali-switch", "device type 7, switching"
	case Mask:
		return "dali-dt6", "several device types"
	}
	return "dali-dt6", fmt.Sprintf("device type %d", deviceType.Value)
}

// strangers asks whether there is gear without a short address.
func (s *search) strangers() {
	asks := 1
	if s.noisy {
		asks = presenceAsks
	}
	for range asks {
		got, err := s.send("none", Command(Unaddressed, OpQueryPresent))
		if err != nil || !got[0].Yes() || s.noisy && got[0].Kind == AnswerValue && got[0].Value != Mask {
			return
		}
	}
	s.Tell(appliance.Found{Address: "none", Finding: appliance.FoundNoAddress,
		Detail: "there is gear without a short address", Advice: "commissioning gives it one"})
}
