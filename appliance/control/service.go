package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// Services lists the jobs that the driver of a bus can do; none is no error.
func (c *Controller) Services(busName string) ([]appliance.Service, error) {
	b, err := c.bus(busName)
	if err != nil {
		return nil, err
	}
	if s, ok := b.driver().(appliance.Servicer); ok {
		return s.Services(), nil
	}
	return nil, nil
}

// Serve does one job on a bus and tells what it does and learns, in its own
// goroutine. It returns when the job is done or ctx ends.
func (c *Controller) Serve(ctx context.Context, busName, name string, inputs map[string]string, tell func(appliance.ServiceStep)) error {
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
	err = service.Run(ctx, appliance.Session{Inputs: inputs, Tell: tell, Perform: func(ctx context.Context, e appliance.Exchange) (appliance.Result, error) {
		return c.performSoon(ctx, busName, e)
	}})
	if err != nil {
		return fmt.Errorf("bus %s: %s: %w", busName, name, err)
	}
	return nil
}

// findService finds a service that is to be called with these inputs.
func findService(busName string, list []appliance.Service, name string, inputs map[string]string) (appliance.Service, error) {
	i := slices.IndexFunc(list, func(s appliance.Service) bool { return s.Name == name })
	if i < 0 {
		return appliance.Service{}, fmt.Errorf("bus %s: service %q: %w; it has %s", busName, name, appliance.ErrNotFound, serviceNames(list))
	}
	if err := checkInputs(list[i], inputs); err != nil {
		return appliance.Service{}, fmt.Errorf("bus %s: service %s: %w", busName, name, err)
	}
	return list[i], nil
}

func serviceNames(list []appliance.Service) string {
	if len(list) == 0 {
		return "none"
	}
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// checkInputs refuses inputs that the service does not know, or has to have.
func checkInputs(s appliance.Service, inputs map[string]string) error {
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
func (b badInput) Is(target error) bool { return target == appliance.ErrOutOfRange }

// serviceWait is how long an exchange of a job may wait for its turn.
const serviceWait = 30 * time.Second

// performSoon performs an exchange, unless the bus does not come to it.
func (c *Controller) performSoon(ctx context.Context, busName string, e appliance.Exchange) (appliance.Result, error) {
	soon, cancel := context.WithTimeout(ctx, serviceWait)
	defer cancel()
	res, err := c.Perform(soon, busName, e)
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return res, err
	}
	if down := c.upNow(busName); down != nil {
		return res, down
	}
	return res, fmt.Errorf("%w: the bus did not come to it within %v", appliance.ErrExpired, serviceWait)
}

// upNow tells why a bus cannot be used, if so.
func (c *Controller) upNow(busName string) error {
	b, err := c.bus(busName)
	if err != nil {
		return err
	}
	return b.linkDown()
}
