package dmx

import "testing"

// Answers of several at once can look like that of a device which is not there. It confirms
// nothing, and the search goes on without it.
func TestWhoDoesNotConfirmWasNeverThere(t *testing.T) {
	var s discovery
	asked := 0
	for {
		step, ok := s.next()
		if !ok {
			break
		}
		if asked++; asked > 100 {
			t.Fatalf("%d questions and no end; found %v", asked, s.found)
		}
		switch {
		case step.kind == searchBranch && step.high == maxUID && step.low == 0:
			s.heard(step, heard{uid: 5})
		case step.kind == searchUnmute:
			s.heard(step, heard{})
		default:
			s.heard(step, heard{nobody: true})
		}
	}
	if len(s.found) > 0 || s.err() != nil {
		t.Errorf("found %v, %v; want nobody, and nothing wrong", s.found, s.err())
	}
}
