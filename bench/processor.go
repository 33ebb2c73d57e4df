package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// processors keeps apart what is measured from what stands for the world outside,
// which in a building is other machines: whatever is measured has the last processor
// for itself, clients and devices share the others. Otherwise luck decides: a program
// that sleeps on the processor of its client is woken at once, another one only when
// its own processor has been.
type processors struct {
	apart                bool
	all, world, measured unix.CPUSet
}

// keepApart begins that, as far as this machine has two processors. The function it
// returns ends it.
func (p *processors) keepApart() (end func(), err error) {
	if err := unix.SchedGetaffinity(0, &p.all); err != nil {
		return nil, fmt.Errorf("processors: %w", err)
	}
	last := -1
	for i := range len(p.all) * strconv.IntSize {
		if p.all.IsSet(i) {
			last = i
		}
	}
	p.world = p.all
	p.world.Clear(last)
	p.measured.Zero()
	p.measured.Set(last)
	if p.world.Count() == 0 {
		return nil, errOneProcessor
	}
	if err := moveTo(&p.world); err != nil {
		return nil, err
	}
	p.apart = true
	return func() {
		p.apart = false
		_ = moveTo(&p.all) // it was there before
	}, nil
}

var errOneProcessor = fmt.Errorf("this machine has one processor: nothing can be kept apart")

// moveTo moves all threads of this process.
func moveTo(set *unix.CPUSet) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("processors: %w", err)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err == nil {
			err = unix.SchedSetaffinity(tid, set)
		}
		if err != nil && err != unix.ESRCH {
			return fmt.Errorf("processors of thread %s: %w", task.Name(), err)
		}
	}
	return nil
}

// starting lets what is started until the returned function is called be measured:
// children run where the thread does that starts them.
func (p *processors) starting() (end func()) {
	if !p.apart {
		return func() {}
	}
	runtime.LockOSThread()
	_ = unix.SchedSetaffinity(0, &p.measured) // it is one of ours
	return func() {
		_ = unix.SchedSetaffinity(0, &p.world)
		runtime.UnlockOSThread()
	}
}
