package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a program under test.
type process struct {
	cmd  *exec.Cmd
	out  io.ReadCloser // its standard output; nil if that went to the log
	done chan error
}

// start runs a program until stop. Its standard error, and without pipe its
// standard output, go to a file, as they would to a system's log.
func (r *run) start(ctx context.Context, pipe bool, program string, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(r.dir, filepath.Base(program)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{cmd: exec.CommandContext(ctx, program, args...), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if r.verbose {
		p.cmd.Stdout, p.cmd.Stderr = os.Stderr, os.Stderr
	}
	if pipe {
		p.cmd.Stdout = nil
		if p.out, err = p.cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if !pipe {
		go func() { p.done <- p.cmd.Wait() }()
	}
	return p, nil
}

// logSize is the length of the log of a program.
func (r *run) logSize(program string) (int64, error) {
	info, err := os.Stat(filepath.Join(r.dir, program+".log"))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// stop ends the program in an orderly way, or after 15 s in the other one.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if p.out != nil {
		go func() {
			_, _ = io.Copy(io.Discard, p.out)
			p.done <- p.cmd.Wait()
		}()
	}
	select {
	case <-p.done:
	case <-time.After(15 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// field reads a number from a "name: value" file of a process below /proc.
func (p *process) field(file, name string) (int64, error) {
	path := fmt.Sprintf("/proc/%d/%s", p.pid(), file)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}

// switches counts how often threads of a process went to sleep by themselves.
func (p *process) switches() (sum int64, err error) {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.pid()))
	for _, t := range threads {
		n, err := p.field("task/"+t.Name()+"/status", "voluntary_ctxt_switches")
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, err
}

// cpu is the processor time a process has used, in steps of 10 ms.
func (p *process) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid()))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] { // utime, stime: fields 14 and 15 of proc(5)
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
