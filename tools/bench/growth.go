package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// perPeer lights are on one bus, a Modbus server of its own.
	perPeer      = 1000
	growthRounds = 3
	// restTime after which memory of a busy time must be given back.
	restTime       = 10 * time.Second
	growthMemory   = 100_000_000 // bytes
	growthCommands = 200
	growthChanges  = 20 // values a second that change on each bus
	growthWarm     = 5 * time.Second
)

// measureGrowth asks sites of 100, 1,000 and 5,000 lights the same things.
func measureGrowth(ctx context.Context, r *run) error {
	for _, lights := range []int{100, 1000, 5000} {
		if err := r.growth(ctx, lights); err != nil {
			return fmt.Errorf("%d lights: %w", lights, err)
		}
	}
	return nil
}

func (r *run) growth(ctx context.Context, lights int) error {
	var buses []string
	for range (lights + perPeer - 1) / perPeer {
		p, err := r.peer(ctx, growthChanges)
		if err != nil {
			return err
		}
		defer p.stop()
		buses = append(buses, p.address)
	}
	dataDir, err := r.prepare(ctx, fmt.Sprintf("growth-%d", lights), manyLights(buses, lights))
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
	if err := d.awaitOnline(ctx, lights); err != nil {
		return err
	}
	if err := wait(ctx, growthWarm); err != nil {
		return err
	}
	before, err := d.field("status", "VmRSS")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d lights: ", lights)
	if err := r.growthCommands(ctx, d, name); err != nil {
		return err
	}
	for _, list := range []string{"getLightLevels", "getActiveNodes", "getClusters"} {
		if err := r.growthReads(ctx, d, name, list); err != nil {
			return err
		}
	}
	peak, err := d.field("status", "VmHWM")
	if err != nil {
		return err
	}
	if err := wait(ctx, restTime); err != nil {
		return err
	}
	after, err := d.field("status", "VmRSS")
	if err != nil {
		return err
	}
	r.table.atMost(name+"memory, most", megabytes(peak<<10), megabytes(growthMemory), fmt.Sprintf("%.2f", float64(peak)*1024/growthMemory),
		float64(peak)*1024, growthMemory, "100 MB")
	r.table.note("  before; 10 s after the last request", megabytes(before<<10)+"; "+megabytes(after<<10), "", "")
	return nil
}

// growthCommands dims one light, back to back.
func (r *run) growthCommands(ctx context.Context, d *daemon, name string) error {
	c, err := dial(d.address, d.pem)
	if err != nil {
		return err
	}
	defer c.close()
	var took sample
	for i := range growthCommands {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		body := fmt.Sprintf(`{"targetType":3,"targetId":1,"command":"DIM","dimLevel":%d}`, 1+i%100)
		begun := time.Now()
		answer, err := c.do(request(http.MethodPost, "/svc/api/channelControl", d.token, body))
		if err != nil {
			return err
		}
		if !strings.Contains(string(answer), `"status":1`) {
			return fmt.Errorf("command: %s", answer)
		}
		took = append(took, time.Since(begun))
	}
	r.table.note(name+"command to one light, until it returns, p50", ms(took.at(0.5)), "", "")
	return nil
}

// growthReads asks for one list on many connections at once.
func (r *run) growthReads(ctx context.Context, d *daemon, name, list string) error {
	cs, err := crowd(d.address, d.pem, request(http.MethodGet, "/svc/api/"+list, d.token, ""))
	if err != nil {
		return err
	}
	defer cs.close()
	var rates, cpus []float64
	for range growthRounds {
		rate, cpu, err := cs.rate(ctx, d.process)
		if err != nil {
			return err
		}
		rates, cpus = append(rates, rate), append(cpus, float64(cpu.Microseconds()))
	}
	r.table.note(fmt.Sprintf("%s%s, %d connections; processor time each", name, list, readConnections),
		fmt.Sprintf("%.0f /s; %.0f µs", median(rates), median(cpus)), "", "")
	return nil
}

// manyLights are the outputs of units with ten registers each, at most a thousand on a
// bus, and clusters of fifty.
func manyLights(buses []string, lights int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "site: {name: %d lights}\nbuses:\n", lights)
	for i, address := range buses {
		fmt.Fprintf(&b, "  - {name: bench %d, driver: modbus, port: \"tcp://%s\"}\n", i+1, address)
	}
	b.WriteString("nodes:\n")
	for i := range lights {
		on := i % perPeer
		fmt.Fprintf(&b, "  - {id: %d, name: Light %d, bus: bench %d, address: %d, profile: ten-registers, outputs: [%d]}\n", i+1, i+1, 1+i/perPeer, 1+on/10, 1+on%10)
	}
	b.WriteString("clusters:\n")
	for i := 0; i < lights; i += 50 {
		fmt.Fprintf(&b, "  - {id: %d, name: Room %d, nodes: [", 1+i/50, 1+i/50)
		for j := i; j < min(i+50, lights); j++ {
			fmt.Fprintf(&b, "%d,", j+1)
		}
		b.WriteString("]}\n")
	}
	return b.String()
}
