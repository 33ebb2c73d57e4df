package appliance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Servicer does an installer's jobs on devices that no command is for and that each
// protocol has in its own way: it gives addresses, and reads and writes what a
// device keeps for itself. It is an ability that a driver may have besides.
type Servicer interface {
	// Services lists the jobs. Safe from any goroutine.
	Services() []Service
}

// Service is one kind of job.
type Service struct {
	Name    string // lower case, one word
	About   string // one line for people
	Inputs  []Input
	Changes bool // devices keep something else afterwards
	// Run does the job. It is called from a goroutine of its own and touches the
	// driver's state only in exchanges that it has performed, one at a time:
	// commands go before each of them, polls take turns with them.
	Run func(ctx context.Context, s Session) error
}

// Input is what a job has to be told.
type Input struct {
	Name, About string
	Required    bool
}

// Session is what a job has to work with.
type Session struct {
	// Inputs by name, only those that the service has; the required ones are not
	// empty.
	Inputs map[string]string
	// Perform does one exchange. It fails with ErrExpired when the bus did not come
	// to it within [ServiceWait], and with ErrBusDown when the bus is closed.
	Perform func(ctx context.Context, e Exchange) (Result, error)
	// Tell shows what was done or learned. It does not wait for slow readers longer
	// than ctx lasts.
	Tell func(Told)
}

// Told is one thing that a job has to say: how far it is, or what it learned of a
// device.
type Told struct {
	Step  string  // what is being done, for people who watch; empty: this is a result
	Share float64 // with Step: how much of the job is done, 0 to 1; 0 if nobody knows

	Address string // of the device that the facts are about; empty: of all
	Facts   []Fact
}

// Fact is one thing learned.
type Fact struct {
	Name  string // lower case, as scripts know it
	Value any    // a string, an int or a bool
}

// ServiceWait is how long an exchange of a job may wait for its turn.
const ServiceWait = 30 * time.Second

// Services lists the jobs that the driver of a bus can do; none is no error.
func (c *Controller) Services(busName string) ([]Service, error) {
	b, err := c.bus(busName)
	if err != nil {
		return nil, err
	}
	if s, ok := b.driver().(Servicer); ok {
		return s.Services(), nil
	}
	return nil, nil
}

// Serve does one job on a bus and tells what it does and learns, in its own
// goroutine. It returns when the job is done or ctx ends.
func (c *Controller) Serve(ctx context.Context, busName, name string, inputs map[string]string, tell func(Told)) error {
	list, err := c.Services(busName)
	if err != nil {
		return err
	}
	service, err := findService(busName, list, name, inputs)
	if err != nil {
		return err
	}
	if err := c.upNow(busName); err != nil {
		return err
	}
	err = service.Run(ctx, Session{Inputs: inputs, Tell: tell, Perform: func(ctx context.Context, e Exchange) (Result, error) {
		return c.performSoon(ctx, busName, e)
	}})
	if err != nil {
		return fmt.Errorf("bus %s: %s: %w", busName, name, err)
	}
	return nil
}

// findService finds a service that is to be called with these inputs.
func findService(busName string, list []Service, name string, inputs map[string]string) (Service, error) {
	i := slices.IndexFunc(list, func(s Service) bool { return s.Name == name })
	if i < 0 {
		return Service{}, fmt.Errorf("bus %s: service %q: %w; it has %s", busName, name, ErrNotFound, serviceNames(list))
	}
	if err := list[i].check(inputs); err != nil {
		return Service{}, fmt.Errorf("bus %s: service %s: %w", busName, name, err)
	}
	return list[i], nil
}

func serviceNames(list []Service) string {
	if len(list) == 0 {
		return "none"
	}
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// check refuses inputs that the service does not know, or has to have.
func (s Service) check(inputs map[string]string) error {
	var known []string
	for _, in := range s.Inputs {
		known = append(known, in.Name)
		if in.Required && inputs[in.Name] == "" {
			return badInput(fmt.Sprintf("input %s is missing: %s", in.Name, in.About))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(inputs)) {
		if !slices.Contains(known, key) {
			return badInput(fmt.Sprintf("input %q is unknown; it takes %s", key, strings.Join(known, ", ")))
		}
	}
	return nil
}

// badInput says what is wrong with an input. It is ErrOutOfRange, whose text would add
// nothing.
type badInput string

func (b badInput) Error() string { return string(b) }

// Is reports whether target is what callers branch on.
func (b badInput) Is(target error) bool { return target == ErrOutOfRange }

// performSoon performs an exchange, unless the bus does not come to it.
func (c *Controller) performSoon(ctx context.Context, busName string, e Exchange) (Result, error) {
	soon, cancel := context.WithTimeout(ctx, ServiceWait)
	defer cancel()
	res, err := c.Perform(soon, busName, e)
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return res, err
	}
	if down := c.upNow(busName); down != nil {
		return res, down
	}
	return res, fmt.Errorf("%w: the bus did not come to it within %v", ErrExpired, ServiceWait)
}

// upNow tells why a bus cannot be used, if so.
func (c *Controller) upNow(busName string) error {
	b, err := c.bus(busName)
	if err != nil {
		return err
	}
	return b.linkDown()
}
