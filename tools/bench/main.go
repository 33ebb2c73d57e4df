// Command bench measures controllerd as it runs in a building, next to the least
// that any program or wire could do.
//
// It starts the daemon as a process of its own, with a real database, real users
// and real tokens, and puts devices at the other end of its wires that note when
// bytes arrive. Every figure stands beside its floor from the same run: a bare
// program that does the same job, or the time that the bits need on the wire.
// Rounds of both alternate, so that whatever else the machine does hits both.
//
// It needs bin/controllerd, bin/simbuilding and bin/modbus-peer (see
// scripts/bench.sh), prints a table, and exits with 1 if a bound is missed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// settings of a run.
type settings struct {
	bin      string        // directory of the programs under test
	commands int           // of each latency figure
	poll     time.Duration // of each polling figure
	idle     time.Duration // how long the demo site is watched
	rounds   int           // of each alternating figure
	verbose  bool
}

// section is one group of figures.
type section struct {
	name string
	run  func(context.Context, *run) error
}

var sections = []section{
	{"reads", measureReads},
	{"writes", measureWrites},
	{"polling", measurePolling},
	{"bytes", measureBytes},
	{"waits", measureWaits},
	{"demo", measureDemo},
	{"growth", measureGrowth},
	{"clients", measureClients},
}

// run is one call of this program.
type run struct {
	settings
	dir   string // temporary, on a real disk
	table table
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "floor" {
		exit(serveFloor(os.Args[2:]))
	}
	var s settings
	var only string
	flag.StringVar(&s.bin, "bin", "bin", "`directory` with controllerd, simbuilding and modbus-peer")
	flag.IntVar(&s.commands, "commands", 2000, "commands of each latency figure")
	flag.DurationVar(&s.poll, "poll", time.Minute, "length of each polling figure")
	flag.DurationVar(&s.idle, "idle", 3*time.Minute, "how long the demo site is watched")
	flag.IntVar(&s.rounds, "rounds", 15, "rounds of the figures that alternate with their floor")
	flag.BoolVar(&s.verbose, "v", false, "show the log of the programs under test")
	flag.StringVar(&only, "only", "", "sections to run, separated by commas; all by default: reads, writes, polling, bytes, waits, demo, growth, clients")
	flag.Parse()
	exit(measure(s, only))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// measure runs the sections asked for and prints the table.
func measure(s settings, only string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	// Not below /tmp, which may be memory: writes to memory are not counted.
	dir, err := os.MkdirTemp(s.bin, "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &run{settings: s, dir: dir}
	r.table.begin()
	for _, sec := range chosen {
		fmt.Fprintf(os.Stderr, "%s …\n", sec.name)
		if err := sec.run(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", sec.name, err)
		}
	}
	r.table.print(os.Stdout)
	return r.table.verdict()
}

func choose(only string) ([]section, error) {
	if only == "" {
		return sections, nil
	}
	var chosen []section
	for _, name := range strings.Split(only, ",") {
		found := false
		for _, s := range sections {
			if s.name == name {
				chosen, found = append(chosen, s), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no section %q", name)
		}
	}
	return chosen, nil
}
