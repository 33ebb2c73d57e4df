package siege

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// A Request is made again and again by somebody who has a login or a key, or guesses at one.
type Request struct {
	Name         string // for the count
	Method, Path string
	Header       []string // such as "X-API-Key: k"
	Body         string   // in which % stands for a number, another one each time
	File         string   // holds the body instead
	// Missing is how many bytes of the body are announced and never come.
	Missing int64
	// Unread leaves the answer where it is and holds the connection for so long.
	Unread time.Duration
	Places int // that do so at once
	Pause  time.Duration
}

// caller makes a request again and again, over one connection while it is kept.
type caller struct {
	Request
	door Door
	conn net.Conn // nil: none
	in   *bufio.Reader
}

// again makes the request until ctx ends.
func (d Door) again(ctx context.Context, r Request, count *counts) {
	body := []byte(r.Body)
	if r.File != "" {
		var err error
		if body, err = os.ReadFile(r.File); err != nil {
			count.add(ctx, r.Name, err.Error())
			return
		}
	}
	c := caller{Request: r, door: d}
	defer c.hangUp()
	for n := 0; ctx.Err() == nil; n++ {
		now := body
		if r.File == "" {
			now = bytes.ReplaceAll(body, []byte("%"), strconv.AppendInt(nil, int64(n), 10))
		}
		count.add(ctx, r.Name, c.once(ctx, now))
		pause(ctx, r.Pause)
	}
}

func (c *caller) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// once makes the request and returns what came of it: a status, or in words.
func (c *caller) once(ctx context.Context, body []byte) string {
	if err := c.call(ctx); err != nil {
		return notLetIn
	}
	conn := c.conn
	wrote := make(chan error, 1)
	go func() { // who refuses a body may answer before all of it has come
		_, err := conn.Write(append(c.head(len(body)), body...))
		wrote <- err
	}()
	switch {
	case c.Missing > 0:
		defer c.hangUp()
		if <-wrote == nil {
			pause(ctx, held)
		}
		return "left"
	case c.Unread > 0:
		defer c.hangUp()
		pause(ctx, c.Unread)
		return "held"
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.hangUp()
		return "cut"
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.Close {
		c.hangUp()
	}
	return strconv.Itoa(res.StatusCode)
}

// call connects, where there is no connection.
func (c *caller) call(ctx context.Context) (err error) {
	if c.conn == nil {
		if c.conn, err = c.door.dial(ctx, "http/1.1"); err != nil {
			c.conn = nil
			return err
		}
		c.in = bufio.NewReader(c.conn)
		if c.Unread > 0 {
			narrow(c.conn)
		}
	}
	return c.conn.SetDeadline(time.Now().Add(max(time.Minute, 2*c.Unread)))
}

func (c *caller) head(length int) []byte {
	head := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", c.Method, c.Path, c.door.Addr, int64(length)+c.Missing)
	for _, h := range c.Header {
		head = append(head, h+"\r\n"...)
	}
	return append(head, "\r\n"...)
}

// narrow has a connection hold little of what was not read.
func narrow(c net.Conn) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		if tcp, ok := t.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
	}
}
