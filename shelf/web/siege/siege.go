// Package siege does to a daemon what has brought daemons down, for tests: strangers without
// a login, people with one who mean harm, a controller that floods the platform, and an old
// controller that answers without end.
package siege

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Door is what is attacked, over TLS.
type Door struct {
	Addr string
	// File is the largest that anybody may load.
	File string
	// Posts take bodies from anybody.
	Posts []string

	address string // that attacks come from
}

// held is how long an attack holds what it has got.
const held = time.Second

// Attack does everything at once, and again, until ctx ends.
func (d Door) Attack(ctx context.Context) {
	attacks := []func(context.Context){d.files, d.heads, d.silence, d.halfHeaders}
	for _, path := range d.Posts {
		attacks = append(attacks,
			func(ctx context.Context) { d.halfBodies(ctx, path) },
			func(ctx context.Context) { d.halfStreams(ctx, path) },
			func(ctx context.Context) { d.guess(ctx, path) })
	}
	var wg sync.WaitGroup
	for _, attack := range attacks {
		for range 2 {
			wg.Go(func() {
				for ctx.Err() == nil {
					attack(ctx)
					pause(ctx, 20*time.Millisecond)
				}
			})
		}
	}
	wg.Wait()
}

// Handshakes begins connections and drops each when its handshake is through, from as many
// places at once, until ctx ends: it is the server that has to sign.
func (d Door) Handshakes(ctx context.Context, places int) {
	var wg sync.WaitGroup
	for range places {
		wg.Go(func() {
			for ctx.Err() == nil {
				if c, err := d.dial(ctx, "http/1.1"); err == nil {
					c.Close()
				}
				pause(ctx, time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// files are asked for and not taken.
func (d Door) files(ctx context.Context) {
	d.streams(ctx, 16, func(f *http2.Framer, stream uint32, head func(...string) []byte) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndStream: true, EndHeaders: true,
			BlockFragment: head(":method", "GET", ":scheme", "https", ":path", d.File, ":authority", "x")})
	})
}

func (d Door) halfStreams(ctx context.Context, path string) {
	d.streams(ctx, 250, func(f *http2.Framer, stream uint32, head func(...string) []byte) error {
		err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true,
			BlockFragment: head(":method", "POST", ":scheme", "https", ":path", path, ":authority", "x", "content-length", "8000")})
		if err != nil {
			return err
		}
		return f.WriteData(stream, false, bytes.Repeat([]byte(" "), 4000))
	})
}

func (d Door) halfBodies(ctx context.Context, path string) {
	d.hold(ctx, 30, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{"+strings.Repeat(" ", 100_000))
}

func (d Door) halfHeaders(ctx context.Context) {
	d.hold(ctx, 30, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("y", 12_000))
}

func (d Door) silence(ctx context.Context) { d.hold(ctx, 60, "") }

// heads asks for the head of the largest file, again and again.
func (d Door) heads(ctx context.Context) {
	c, err := d.dial(ctx, "http/1.1")
	if err != nil {
		return
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for until := time.Now().Add(held); time.Now().Before(until) && ctx.Err() == nil; {
		if _, err := io.WriteString(c, "HEAD "+d.File+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return
		}
		res, err := http.ReadResponse(in, &http.Request{Method: "HEAD"})
		if err != nil {
			return
		}
		res.Body.Close()
		pause(ctx, 5*time.Millisecond)
	}
}

// guess tries a password.
func (d Door) guess(ctx context.Context, path string) {
	c, err := d.dial(ctx, "http/1.1")
	if err != nil {
		return
	}
	defer c.Close()
	body := fmt.Sprintf(`{"username":"u%d","password":"not this one"}`, rand.Uint64())
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
	if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
		res.Body.Close()
	}
}

func (d Door) dial(ctx context.Context, protocol string) (net.Conn, error) {
	t := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}}
	if d.address != "" {
		t.NetDialer = &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(d.address)}}
	}
	c, err := t.DialContext(ctx, "tcp", d.Addr)
	if err == nil {
		err = c.SetDeadline(time.Now().Add(10 * time.Second))
	}
	return c, err
}

// hold opens connections, says something on each, and leaves it at that.
func (d Door) hold(ctx context.Context, n int, text string) {
	for range n {
		c, err := d.dial(ctx, "http/1.1")
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
	pause(ctx, held)
}

// streams opens a connection that takes no answers (its window is 0), and as many
// streams as it is let.
func (d Door) streams(ctx context.Context, n int, ask func(*http2.Framer, uint32, func(...string) []byte) error) {
	c, err := d.dial(ctx, "h2")
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	if err := f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		return
	}
	go io.Copy(io.Discard, c) // settings and resets, until the connection is closed
	var block bytes.Buffer
	coder := hpack.NewEncoder(&block)
	head := func(fields ...string) []byte {
		block.Reset()
		for i := 0; i < len(fields); i += 2 {
			_ = coder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // into memory
		}
		return block.Bytes()
	}
	for i := range n {
		if err := ask(f, uint32(2*i+1), head); err != nil {
			return
		}
	}
	pause(ctx, held)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
