package modbus

import (
	"fmt"
	"slices"
	"strings"

	"svc.internal/controller/appliance"
)

// tellTalkers tells who talks without being asked. Told again, it stands in place of
// what was told before.
func (s *search) tellTalkers(sure bool) {
	for _, f := range s.heard.found(sure) {
		s.Tell(f)
	}
}

// tellEcho tells, once, that the adapter returns what it sends.
func (s *search) tellEcho(r request) {
	s.echoed = true
	frame, err := s.driver.codec.encode(r)
	if err != nil {
		return
	}
	s.Tell(appliance.Found{
		Finding: appliance.FoundEcho,
		Detail:  fmt.Sprintf("THE ADAPTER RETURNS WHAT IT SENDS (echo): % X came back before any answer. It is left out of account, here and by the daemon, which has to find it out first", frame),
		Advice:  "set the bus option echo to true (beside --port: --option echo=true), or switch the adapter's echo off",
	})
}

// judgeLine tells what is wrong with the line as a whole.
func (s *search) judgeLine() {
	if s.Over() {
		return
	}
	s.heard.flush()
	s.tellTalkers(len(s.unsure) > 0)
	if s.drowns >= hopeless {
		s.Tell(appliance.Found{
			Finding: appliance.FoundHindered, Detail: "the line is never silent, so that nobody could be asked",
			Advice: "disconnect devices one by one until 'bus monitor' is quiet; the last one was it. If it never is: check bias and termination",
		})
		return
	}
	if len(s.unsure) > 0 {
		s.Tell(appliance.Found{
			Finding: appliance.FoundHindered,
			Detail:  fmt.Sprintf("whether anybody is at %s cannot be told while the line is noisy: whatever came there was no whole answer", addresses(s.unsure)),
			Advice:  "silence who talks without being asked, then scan again",
		})
	}
	if s.mute >= hopeless && s.clean == 0 {
		s.Tell(appliance.Found{
			Finding: appliance.FoundEcho,
			Detail:  fmt.Sprintf("THE ADAPTER DOES NOT RETURN WHAT IT SENDS, and the bus option echo says that it does: %d questions did not come back as they were sent", s.mute),
			Advice:  "take the bus option echo away, and scan again; if the adapter does echo, two senders talk at once",
		})
	}
	if noisy := s.heard.noisy(); noisy || len(s.bad) >= 2 && len(s.bad) > s.clean {
		s.blameLine(noisy)
	}
}

// blameLine accuses the line instead of its devices: so many shared addresses there
// are not, and what noise did to answers, nobody else did.
func (s *search) blameLine(noisy bool) {
	for n, bad := range s.bad {
		if bad.proven {
			continue
		}
		f := appliance.Found{
			Address: unitKey(n), Finding: appliance.FoundDamaged, Detail: bad.found.Detail,
			Advice: "most answers on this line are damaged: check termination, bias, the other wire pair's polarity and the stop bits before anything else",
		}
		if noisy {
			f.Detail += "; whether this is one device, several or the noise cannot be told while somebody talks without being asked"
			f.Advice = "silence who talks without being asked, then scan again"
		}
		s.Tell(f)
	}
}

// addresses tells numbers as people do: 1, 4 to 7.
func addresses(list []byte) string {
	slices.Sort(list)
	var words []string
	for i := 0; i < len(list); {
		end := i
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		switch end - i {
		case 0:
			words = append(words, unitKey(list[i]))
		case 1:
			words = append(words, unitKey(list[i]), unitKey(list[end]))
		default:
			words = append(words, fmt.Sprintf("%d to %d", list[i], list[end]))
		}
		i = end + 1
	}
	if len(words) == 1 && !strings.Contains(words[0], " ") {
		return "address " + words[0]
	}
	return "addresses " + strings.Join(words, ", ")
}
