package broker

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestAConnectPacketComesBack(t *testing.T) {
	for name, c := range map[string]connect{
		"least":      {flags: flagClean, clientID: "c"},
		"everything": {flags: flagClean | flagWill | flagWillBits&0x28 | flagUsername | flagPassword, keepAlive: 10, clientID: "ctl-a", willTopic: "t", will: []byte("gone"), username: "a", password: strings.Repeat("p", 300)},
	} {
		got, err := readConnect(bytes.NewReader(c.bytes()))
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%s: got %+v %v", name, got, err)
		}
	}
}

func FuzzReadConnect(f *testing.F) {
	c := connect{flags: flagClean | flagWill | flagUsername | flagPassword, clientID: "ctl-a", willTopic: "t", will: []byte("gone"), username: "a", password: "p"}
	f.Add(c.bytes())
	f.Add([]byte{0x10, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readConnect(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := readConnect(bytes.NewReader(c.bytes()))
		if err != nil || again.clientID != c.clientID || again.willTopic != c.willTopic || again.username != c.username || again.password != c.password {
			t.Errorf("%+v came back as %+v, %v", c, again, err)
		}
	})
}
