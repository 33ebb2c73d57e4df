package wire

import "net/http"

const (
	// TunnelPrefix begins every path that a tunnel carries.
	TunnelPrefix = "/svc/api/"
	// TunnelBodyMost is the largest body of a request through a tunnel, in bytes.
	TunnelBodyMost = 8 << 10
	// TunnelAnswerMost is the largest body of an answer: that of some 10,000 lights is half of it.
	TunnelAnswerMost = 4 << 20
	// TunnelPartMost is the most of a body in one part, which keeps a message below [MaxMessage].
	TunnelPartMost = 32 << 10
)

// TunnelRequest is an HTTP request to the public API of a controller. It has the envelope's id and expires with it; nothing
// is done for it afterwards.
type TunnelRequest struct {
	Method string `json:"method"`
	// URI is path and query as they were sent, below [TunnelPrefix].
	URI    string      `json:"uri"`
	Host   string      `json:"host"`
	Peer   string      `json:"peer"` // address of whoever asks
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`
}

// TunnelPart is a part of the answer; its envelope's corr is the id of the request. The first, number 0, has status and header.
// Status 0 there says that the controller lets nobody in by this way. A number out of turn, such as -1, ends an answer that
// cannot be carried.
type TunnelPart struct {
	Part   int         `json:"part"`
	Status int         `json:"status,omitempty"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`
	Final  bool        `json:"final,omitempty"`
}
