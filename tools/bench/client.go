package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// client is one HTTPS connection that is kept, HTTP/1.1. It does as little as
// possible itself: requests are made beforehand, answers are counted and thrown
// away unless somebody wants them.
type client struct {
	conn *tls.Conn
	in   *bufio.Reader
}

// answerLimit is how long any answer may take.
const answerLimit = 30 * time.Second

func dial(address string, pem []byte) (*client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate to trust")
	}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", address, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *client) close() { c.conn.Close() }

// request makes the bytes of one; token may be empty.
func request(method, path, token, body string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, path)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	if method == http.MethodPost {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

// do sends a request and returns the body of its answer.
func (c *client) do(req []byte) ([]byte, error) {
	if err := c.send(req); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, body)
	}
	return body, err
}

func (c *client) send(req []byte) error {
	if err := c.conn.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return err
	}
	_, err := c.conn.Write(req)
	return err
}

var contentLength = []byte("Content-Length: ")

// skim sends a request and passes over its answer, which must be 200 and tell its
// length. It returns the length of the body.
func (c *client) skim(req []byte) (int, error) {
	if err := c.send(req); err != nil {
		return 0, err
	}
	status, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		return 0, fmt.Errorf("answer %s", status)
	}
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, contentLength); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, errors.New("answer without a length")
	}
	return c.in.Discard(length)
}
