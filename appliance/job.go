package appliance

import (
	"errors"
	"fmt"
	"time"
)

// JobKind is a kind of long work.
type JobKind string

// The kinds.
const (
	JobScan      JobKind = "scan"      // search a bus for devices
	JobIdentify  JobKind = "identify"  // make a device show itself
	JobService   JobKind = "service"   // what the driver of a bus does for an installer, such as commissioning
	JobGroups    JobKind = "groups"    // bring the groups of a bus in step
	JobCalibrate JobKind = "calibrate" // measure the travel of a shade
	JobDirection JobKind = "direction" // find out which way a shade runs
	JobMigration JobKind = "migration" // read the house of another controller
	JobDrill     JobKind = "drill"     // try whether a backup can be restored
	JobFindOut   JobKind = "findout"   // find out what is on a port that no bus uses
)

// JobState is how far a job is.
type JobState string

// The states; the last three are final.
const (
	JobQueued    JobState = "queued"
	JobRunning   JobState = "running"
	JobDone      JobState = "done"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Over reports whether the job has ended.
func (s JobState) Over() bool { return s == JobDone || s == JobFailed || s == JobCancelled }

// Job is long work that goes on when whoever began it has left, and can be watched,
// answered and cancelled from anywhere. A Job is a value: how it stood at one moment.
type Job struct {
	ID   string
	Kind JobKind
	// Subject is what it works on, in words: "bus ground-floor", "shade 5001". There is
	// one job a subject at a time.
	Subject string
	// Bus, Address and Shade say the same for programs; empty where they do not matter.
	Bus, Address string
	Shade        ID
	By           Origin
	State        JobState
	StartedAt    time.Time
	EndedAt      time.Time // zero: not yet
	Progress     JobProgress
	Question     *JobQuestion // open now; nil: none
	// Items are what it found out so far, in order: of a scan [Found], of a service
	// [ServiceStep], of groups [GroupProgress], of a calibration [MeasuredLeg], of finding
	// out [PortAnswer].
	Items  []any
	Result any // of a job that is done, or asks whether to save it: [ShadeOutcome], or nil
	Err    string
	// Version grows with every change of any job.
	Version uint64
}

// PortAnswer is who answered on a port that no bus uses, and the bus that it would be on: its
// driver, port, line settings and options.
type PortAnswer struct {
	Bus   Bus
	Found Found
}

// JobProgress is how far a job is, as far as anybody knows.
type JobProgress struct {
	Text  string  // what is being done
	Done  int     // how many steps were
	Share float64 // 0 to 1; 0: not known
	// Moving is where a shade on its way is, in a calibration.
	Moving *Progress
}

// JobQuestion is what a job wants to know of a person. The first answer counts.
type JobQuestion struct {
	Number  int    // from 1, within the job
	Ask     string // "begin", "stands", "sure", "save", "went"
	Leg     Leg    // that it is about
	Choices []string
	// Again is why it is asked once more; empty: it is asked for the first time.
	Again Again
	// Took is what was measured and Other what the way back took, where it is asked whether that is sure.
	Took, Other time.Duration
}

// Again is why an answer was not taken.
type Again string

// The reason there is.
const (
	AgainSoon Again = "soon" // no shade is at its end so soon
)

// What callers of jobs branch on.
var (
	// ErrJobRunning: another job works on the same thing. See [JobConflict].
	ErrJobRunning = errors.New("a job is under way already")
	// ErrNoQuestion: nobody waits for that answer any more.
	ErrNoQuestion = errors.New("nobody waits for this answer")
)

// JobConflict is ErrJobRunning with the job that is in the way.
type JobConflict struct{ Job Job }

func (e *JobConflict) Error() string {
	return fmt.Sprintf("%s: %v (%s, begun by %s); wait for it or cancel it", e.Job.Subject, ErrJobRunning, e.Job.Kind, e.Job.By.Who)
}

// Is makes it ErrJobRunning.
func (e *JobConflict) Is(target error) bool { return target == ErrJobRunning }

// Leg is one part of a calibration: the shade goes to one of its ends.
type Leg struct {
	Number int // from 1
	Run    int // from 1; 0: the way to the first end, which is not timed
	Up     bool
}

// Progress of a leg.
type Progress struct {
	Leg
	Elapsed  time.Duration // since the order was on the wire
	Position Known[Position]
}

// Travel is how long a shade takes from one end to the other.
type Travel struct {
	Mean time.Duration
	// Uncertainty is how far the true travel may be from Mean, one way or the other.
	Uncertainty time.Duration
	// Spread is between the shortest and the longest of Runs that count.
	Spread time.Duration
	Runs   []time.Duration // each one measured, in order
}

// MeasuredLeg is the outcome of one leg of a calibration.
type MeasuredLeg struct {
	Leg
	Took, Uncertainty time.Duration
}

// ShadeOutcome is what a run found out about a shade.
type ShadeOutcome struct {
	Shade    ID
	Name     string
	Old, New ShadeSettings
	Up, Down Travel // of a calibration
	Watched  bool   // by a person; else by the shade's own position
	Saved    bool
}

// The questions of a shade's job, and the answers.
const (
	AskBegin  = "begin"  // may the next leg begin? Answer "yes"
	AskStands = "stands" // answer "yes" when the shade stands at its end
	AskSure   = "sure"   // answer "yes" if it does stand, though the other way took far longer or shorter; else "no"
	AskSave   = "save"   // answer "yes" if what was measured is to replace the old times; else "no"
	AskWent   = "went"   // which way did it go?
)
