package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// measureWrites times the way from an HTTP request to the write that an independent
// Modbus TCP server sees, as clients send them: one after the other, and with pauses
// in which everything goes to sleep.
func measureWrites(ctx context.Context, r *run) error {
	ours, err := r.peer(ctx, 0)
	if err != nil {
		return err
	}
	defer ours.stop()
	theirs, err := r.peer(ctx, 0)
	if err != nil {
		return err
	}
	defer theirs.stop()
	dataDir, err := r.prepare(ctx, "writes", fmt.Sprintf(`site: {name: Writes}
buses:
  - {name: bench, driver: modbus, port: "tcp://%s"}
nodes:
  - {id: 1, name: Light, bus: bench, address: 1, profile: ten-registers, outputs: [1]}
`, ours.address))
	if err != nil {
		return err
	}
	d, err := r.serve(ctx, dataDir)
	if err != nil {
		return err
	}
	defer d.stop()
	if err := d.login(); err != nil {
		return err
	}
	if err := d.awaitOnline(ctx, 1); err != nil {
		return err
	}
	f, err := r.floor(ctx, nil, theirs.address)
	if err != nil {
		return err
	}
	defer f.stop()
	daemon, err := commander(d.address, d.pem, d.token, ours)
	if err != nil {
		return err
	}
	defer daemon.close()
	// Both get the same bytes, so that what a token costs on its way is in both.
	floor, err := commander(f.address, f.pem, d.token, theirs)
	if err != nil {
		return err
	}
	defer floor.close()
	if err := warmUp(ctx, daemon, floor); err != nil {
		return err
	}
	for _, c := range []struct {
		what  string
		pause time.Duration
		count int
	}{
		{"HTTP command → Modbus TCP write, back to back", 0, r.commands * 2},
		{"the same with a pause of 5 ms before each", 5 * time.Millisecond, r.commands},
	} {
		if err := r.compareWrites(ctx, c.what, daemon, floor, c.pause, c.count); err != nil {
			return err
		}
	}
	return nil
}

// warmTime is how long commands are sent before any counts: a controller runs for
// years, not for the seconds in which it still clears up after starting.
const warmTime = 8 * time.Second

func warmUp(ctx context.Context, sides ...*control) error {
	for until := time.Now().Add(warmTime); time.Now().Before(until); {
		for _, side := range sides {
			if _, _, err := side.round(ctx, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeRound commands are sent to one side before it is the other's turn.
const writeRound = 50

func (r *run) compareWrites(ctx context.Context, what string, ours, floor *control, pause time.Duration, count int) error {
	var mine, least, mineAll, leastAll sample
	for i := range (count + writeRound - 1) / writeRound {
		for turn := range 2 {
			side := floor
			if turn == i%2 {
				side = ours
			}
			writes, answers, err := side.round(ctx, pause)
			if err != nil {
				return err
			}
			if side == ours {
				mine, mineAll = append(mine, writes...), append(mineAll, answers...)
			} else {
				least, leastAll = append(least, writes...), append(leastAll, answers...)
			}
		}
	}
	for _, q := range []struct {
		name  string
		part  float64
		bound float64
	}{{"p50", 0.50, 2}, {"p99", 0.99, 2.5}} {
		m, l := mine.at(q.part), least.at(q.part)
		name := what + ", " + q.name
		if q.part > 0.5 {
			name = "  " + q.name
		}
		r.table.atMost(name, us(m), us(l), fmt.Sprintf("%.2f", times(m, l)), times(m, l), q.bound, fmt.Sprint(q.bound))
	}
	r.table.note(fmt.Sprintf("  p99.9, of %d each", len(mine)), us(mine.at(0.999)), us(least.at(0.999)), fmt.Sprintf("%.2f", times(mine.at(0.999), least.at(0.999))))
	r.table.note("  until the HTTP answer (ours has read the value back), p50", us(mineAll.at(0.5)), us(leastAll.at(0.5)), fmt.Sprintf("%.2f", times(mineAll.at(0.5), leastAll.at(0.5))))
	return nil
}

// control is a client and the Modbus server at the other end of its commands.
type control struct {
	*client
	token string
	peer  *peer
	level int
}

func commander(address string, pem []byte, token string, p *peer) (*control, error) {
	c, err := dial(address, pem)
	if err != nil {
		return nil, err
	}
	return &control{client: c, token: token, peer: p}, nil
}

// round sends some commands, one after the other, and returns for each the time
// until the write had arrived and until the answer was there.
func (c *control) round(ctx context.Context, pause time.Duration) (writes, answers sample, err error) {
	for range writeRound {
		c.level = 1 + c.level%100
		req := dim(c.token, 1, 0, c.level)
		// Not in a system call: the runtime would look after that ten times a
		// millisecond, and nothing would come to rest.
		time.Sleep(pause)
		sent := now()
		body, err := c.do(req)
		answered := now()
		if err != nil {
			return nil, nil, err
		}
		if strings.TrimSpace(string(body)) != `{"status":1}` {
			return nil, nil, fmt.Errorf("command answered %s", body)
		}
		arrived, err := c.peer.write(c.level)
		if err != nil {
			return nil, nil, err
		}
		writes, answers = append(writes, arrived.sub(sent)), append(answers, answered.sub(sent))
	}
	return writes, answers, ctx.Err()
}

// write takes the next write that the server has told, which must be of that
// value.
func (p *peer) write(value int) (moment, error) {
	if !p.lines.Scan() {
		return 0, fmt.Errorf("the Modbus server tells nothing any more: %v", p.lines.Err())
	}
	fields := strings.Fields(p.lines.Text())
	if len(fields) != 4 || fields[3] != strconv.Itoa(value) {
		return 0, fmt.Errorf("the Modbus server saw %q, want the value %d", p.lines.Text(), value)
	}
	at, err := strconv.ParseInt(fields[0], 10, 64)
	return moment(at), err
}
