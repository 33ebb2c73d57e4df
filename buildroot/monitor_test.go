//go:build image

package buildroot

import (
	"bufio"
	"encoding/json"
	"net"
	"testing"
)

// monitor is QEMU's machine protocol, by which a machine is changed from outside.
type monitor struct {
	qmp  net.Conn
	says *bufio.Scanner
}

// greet begins to talk on a connection to QEMU.
func (m *monitor) greet(t *testing.T, qmp net.Conn) {
	t.Helper()
	m.qmp, m.says = qmp, bufio.NewScanner(qmp)
	m.says.Scan() // its greeting
	m.tell(t, "qmp_capabilities", nil)
}

// tell gives QEMU a command and returns the answer.
func (m *monitor) tell(t *testing.T, command string, arguments any) json.RawMessage {
	t.Helper()
	do := map[string]any{"execute": command}
	if arguments != nil {
		do["arguments"] = arguments
	}
	if err := json.NewEncoder(m.qmp).Encode(do); err != nil {
		t.Fatal(err)
	}
	for m.says.Scan() {
		var answer struct {
			Return json.RawMessage
			Error  *struct{ Desc string }
		}
		if err := json.Unmarshal(m.says.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Error != nil {
			t.Fatalf("QEMU, %s: %s", command, answer.Error.Desc)
		}
		if answer.Return != nil {
			return answer.Return
		}
	}
	t.Fatalf("QEMU hung up at %s: %v", command, m.says.Err())
	return nil
}
