package appliance

import (
	"context"
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
	// to it within 30 s, and with ErrBusDown when the bus is closed.
	Perform func(ctx context.Context, e Exchange) (Result, error)
	// Tell shows what was done or learned. It does not wait for slow readers longer
	// than ctx lasts.
	Tell func(ServiceStep)
}

// ServiceStep is one thing that a job has to say: how far it is, or what it learned of a
// device.
type ServiceStep struct {
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
