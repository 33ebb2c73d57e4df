package siege

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Untaken asks so many times for a path on one HTTP/2 connection whose window is 0, and waits until each answer has begun.
// Nothing of them is taken until the connection is closed. It returns the statuses.
func (d Door) Untaken(ctx context.Context, n int, path string, header map[string]string) (held net.Conn, statuses []string, err error) {
	c, err := d.dial(ctx, "h2")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return nil, nil, err
	}
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return nil, nil, err
	}
	f := http2.NewFramer(c, c)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		return nil, nil, err
	}
	var block bytes.Buffer
	coder := hpack.NewEncoder(&block)
	for i := range n {
		block.Reset()
		fields := [][2]string{{":method", "GET"}, {":scheme", "https"}, {":path", path}, {":authority", "x"}}
		for name, value := range header {
			fields = append(fields, [2]string{name, value})
		}
		for _, one := range fields {
			_ = coder.WriteField(hpack.HeaderField{Name: one[0], Value: one[1]}) // into memory
		}
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), EndStream: true, EndHeaders: true, BlockFragment: block.Bytes()}); err != nil {
			return nil, nil, err
		}
	}
	for len(statuses) < n {
		frame, err := f.ReadFrame()
		if err != nil {
			return nil, statuses, fmt.Errorf("after %d answers: %w", len(statuses), err)
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			statuses = append(statuses, frame.PseudoValue("status"))
		case *http2.RSTStreamFrame:
			statuses = append(statuses, frame.ErrCode.String())
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				if err := f.WriteSettingsAck(); err != nil {
					return nil, statuses, err
				}
			}
		}
	}
	return c, statuses, nil
}
