package sitefile

import (
	"fmt"
	"strings"
	"testing"
)

// One problem a node, not one a pair: 4,000 nodes at one address took 11 s.
func TestManyNodesAtOneAddress(t *testing.T) {
	const nodes = 200
	var b strings.Builder
	b.WriteString("buses:\n- {name: b, driver: modbus, port: /dev/x}\nnodes:\n")
	for i := range nodes {
		fmt.Fprintf(&b, "- {name: n%d, bus: b, address: 1, profile: p}\n", i)
	}
	_, err := Parse("x", []byte(b.String()))
	if err == nil {
		t.Fatal("taken")
	}
	told := map[string]bool{}
	for _, problem := range strings.Split(err.Error(), "\n") {
		where, _, _ := strings.Cut(problem, ": ")
		if told[where] {
			t.Fatalf("%s is told more than once", where)
		}
		told[where] = true
	}
}
