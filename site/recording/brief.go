package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// briefMost bounds what is told of one frame, in bytes.
const briefMost = 240

// leading are the fields that name what a frame is. bare ones are of the form of its
// bytes, which whoever needs them has anyway.
var (
	leading = []string{"function_name", "label_name", "msg", "command", "kind"}
	bare    = []string{
		"function", "op", "crc_ok", "transaction_id", // Modbus
		"msg_id", "node_type_byte", "from_type", "to_type", "data_hex", "logical_hex", "checksum", // SDN
		"gateway", "bits", "frame", "send_twice", "expects_answer", "device_type", // DALI
		"label", "data_length", "data", "start_code", "sub_start", "message_length", "transaction", "port_id", "message_count", "sub_device", "pdl", // DMX
	}
	// plain kinds are told by the direction of the frame.
	plain = []string{"ambiguous", "forward", "backward"}
)

// Brief tells people in one line what a frame means, in the words of its fields: of a
// write and its like answer, what its direction makes of it.
func (f Frame) Brief() string {
	if f.Fields == nil {
		return f.Error
	}
	body, err := json.Marshal(f.Fields)
	if err != nil {
		return f.Error
	}
	w := teller{in: json.NewDecoder(bytes.NewReader(body)), other: "request"}
	if f.Direction == "sent" {
		w.other = "response"
	}
	w.in.UseNumber()
	w.value("", false)
	text := strings.Join(w.facts, " · ")
	if len(w.lead) > 0 {
		text = strings.TrimSuffix(strings.Join(w.lead, " ")+" · "+text, " · ")
	}
	if len(text) > briefMost {
		text = strings.ToValidUTF8(text[:briefMost], "") + " …"
	}
	return text
}

// teller goes through the fields of a frame in their order.
type teller struct {
	in          *json.Decoder // of what Marshal made, so that it does not fail
	other       string        // what the frame is not: request or response
	lead, facts []string
}

func (w *teller) value(key string, skip bool) {
	token, _ := w.in.Token()
	switch token {
	case json.Delim('{'):
		for w.in.More() {
			inner, _ := w.in.Token()
			name := fmt.Sprint(inner)
			w.value(name, skip || name == w.other || slices.Contains(bare, name))
		}
		_, _ = w.in.Token()
	case json.Delim('['):
		var list []string
		for w.in.More() {
			var v any
			_ = w.in.Decode(&v)
			list = append(list, fmt.Sprint(v))
		}
		_, _ = w.in.Token()
		w.tell(key, strings.Join(list, " "), skip)
	case nil, false:
	case true:
		w.tell(key, "", skip)
	default:
		w.tell(key, fmt.Sprint(token), skip)
	}
}

func (w *teller) tell(key, value string, skip bool) {
	switch {
	case skip || slices.Contains(plain, value):
	case slices.Contains(leading, key):
		w.lead = append(w.lead, value)
	default:
		w.facts = append(w.facts, strings.TrimSpace(strings.ReplaceAll(key, "_", " ")+" "+value))
	}
}
