package roomos

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// element is one of a request.
type element struct {
	XMLName  xml.Name
	Command  string    `xml:"command,attr,omitempty"`
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func tree(name string, children ...element) element {
	return element{XMLName: xml.Name{Local: name}, Children: children}
}

func text(name, value string) element {
	return element{XMLName: xml.Name{Local: name}, Text: value}
}

// command is <Command> with the path inside it, and parameters inside that. What a command takes in several lines is its
// element body, in small letters.
func command(path []string, parameters ...element) element {
	e := tree(path[len(path)-1], parameters...)
	e.Command = "True"
	for i := len(path) - 2; i >= 0; i-- {
		e = tree(path[i], e)
	}
	return tree("Command", e)
}

// Refused says what a device did not do, in its own words.
type Refused struct {
	Reason string
	cause  error // [ErrUnknown], or nil
}

func (e *Refused) Error() string {
	if e.cause != nil {
		return e.cause.Error()
	}
	return fmt.Sprintf("the device refused: %s", e.Reason)
}

func (e *Refused) Unwrap() error { return e.cause }

var errStrange = errors.New("the answer is none of a RoomOS device")

// reasonMost is how much of a device's own words is told.
const reasonMost = 200

// outcome reads an answer: <Configuration><Success/></Configuration>, or <Command> with a result that has a status, which is
// OK, Error with a Reason, or ParameterError. Anything else is no success.
func outcome(answer []byte) error {
	var status, reason string
	var inside []string
	done := false
	for d := xml.NewDecoder(bytes.NewReader(answer)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errStrange, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = append(inside, token.Name.Local)
			if token.Name.Local == "Success" {
				done = true
			}
			for _, a := range token.Attr {
				if a.Name.Local != "status" {
					continue
				}
				if done = done || a.Value == "OK"; a.Value != "OK" && status == "" {
					status = a.Value
				}
			}
		case xml.EndElement:
			inside = inside[:len(inside)-1]
		case xml.CharData:
			if n := len(inside); n > 0 && (inside[n-1] == "Reason" || inside[n-1] == "Error") && reason == "" {
				reason = strings.TrimSpace(string(token))
			}
		}
	}
	switch {
	case status == "" && reason == "" && done:
		return nil
	case status == "" && reason == "":
		return errStrange
	case reason == "":
		reason = status
	}
	if r := []rune(reason); len(r) > reasonMost {
		reason = string(r[:reasonMost]) + "…"
	}
	refused := &Refused{Reason: reason}
	if strings.Contains(strings.ToLower(reason), "unknown command") || strings.Contains(strings.ToLower(reason), "no match on") {
		refused.cause = ErrUnknown
	}
	return refused
}
