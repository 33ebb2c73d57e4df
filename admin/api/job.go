package api

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// Jobs is what this door needs of the core's long works.
type Jobs interface {
	Jobs() *control.Jobs
	StartScan(bus string, opts appliance.ScanOptions, by appliance.Origin) (appliance.Job, error)
	StartIdentify(what control.Showing, by appliance.Origin) (appliance.Job, error)
	StartService(bus, name string, inputs map[string]string, by appliance.Origin) (appliance.Job, error)
	StartGroups(bus string, by appliance.Origin) (appliance.Job, error)
	StartCalibration(run control.ShadeRun, by appliance.Origin) (appliance.Job, error)
	StartDirection(run control.ShadeRun, by appliance.Origin) (appliance.Job, error)
}

// Job is long work under way, or done. It goes on when whoever began it has left.
type Job struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind" enum:"scan,identify,service,groups,calibrate,direction,migration,drill,findout"`
	Subject   string       `json:"subject" doc:"What it works on, for people. There is one job a subject at a time."`
	Bus       string       `json:"bus,omitempty"`
	Address   string       `json:"address,omitempty" doc:"Of a device; of a job that finds out, the port."`
	Shade     appliance.ID `json:"shade,omitempty"`
	Service   string       `json:"service,omitempty"`
	By        string       `json:"by" doc:"Who began it."`
	State     string       `json:"state" enum:"queued,running,done,failed,cancelled"`
	StartedAt *time.Time   `json:"startedAt"`
	EndedAt   *time.Time   `json:"endedAt"`
	Progress  JobProgress  `json:"progress"`
	Question  *JobQuestion `json:"question" doc:"What it wants to know of a person; answer with POST /jobs/{id}/answer."`
	Found     int          `json:"found" doc:"How many items there are."`
	Items     []any        `json:"items,omitempty" doc:"What it found out: of a scan Found, of a service ServiceStep, of groups GroupStep, of a calibration MeasuredLeg, of a drill Drilled, of findout PortAnswer. Left out of an event if they did not change."`
	Result    *ShadeResult `json:"result,omitempty" doc:"Of a calibration or a direction that is done, and of a calibration that asks whether to save it."`
	Error     string       `json:"error,omitempty"`
}

// JobProgress is how far a job is, as far as anybody knows.
type JobProgress struct {
	Text   string  `json:"text"`
	Done   int     `json:"done" doc:"Steps so far: addresses looked at, legs begun."`
	Share  float64 `json:"share,omitempty" doc:"0 to 1; left out where nobody knows."`
	Moving *Moving `json:"moving,omitempty" doc:"Where a shade is on its way."`
}

// Moving is a shade on its way.
type Moving struct {
	Leg
	Elapsed  float64 `json:"elapsed" doc:"Seconds."`
	Position *int    `json:"position"`
}

// Leg is one part of a calibration: the shade goes to one of its ends.
type Leg struct {
	Number int  `json:"number"`
	Run    int  `json:"run" doc:"From 1; 0: the way to the first end, which is not timed."`
	Up     bool `json:"up"`
}

// JobQuestion is what a job wants to know of a person. The first answer counts.
type JobQuestion struct {
	Number  int      `json:"number"`
	Ask     string   `json:"ask" enum:"begin,stands,sure,save,went" doc:"begin: may the next leg begin? stands: answer when the shade stands. sure: does it, though this way took less than half of the other, or more than twice as long? save: shall what result says as new replace the old times? went: which way did it go?"`
	Leg     Leg      `json:"leg"`
	Choices []string `json:"choices" doc:"The answers that it takes."`
	Again   string   `json:"again,omitempty" enum:"soon" doc:"Why the answer before was not taken: soon, no shade is at its end within 2 s."`
	Took    float64  `json:"took,omitempty" doc:"Of sure: what this way took, in seconds."`
	Other   float64  `json:"other,omitempty" doc:"Of sure: what the other way took, in seconds."`
}

// Found is what a scan has to tell of one address.
type Found struct {
	Address string            `json:"address"`
	Finding string            `json:"finding" enum:"device,noAddress,note,collision,damaged,settings,babble,silent,profile,late,echo,hindered"`
	Trouble bool              `json:"trouble" doc:"Something has to be put right."`
	Kind    string            `json:"kind,omitempty" doc:"The profile that fits best."`
	Others  []string          `json:"others,omitempty" doc:"Profiles that cannot be told apart from it by reading."`
	Label   string            `json:"label,omitempty"`
	Serial  string            `json:"serial,omitempty"`
	Version string            `json:"version,omitempty"`
	Detail  string            `json:"detail,omitempty"`
	Advice  string            `json:"advice,omitempty"`
	Line    *Line             `json:"line,omitempty" doc:"Line settings at which it answers, if not those of the bus."`
	Gateway bool              `json:"gateway,omitempty" doc:"What is behind it are nodes, the address itself is none."`
	Nodes   []appliance.ID    `json:"nodes,omitempty" doc:"Nodes of the site at this address."`
	New     bool              `json:"new,omitempty" doc:"The site had nothing at this address when the scan first told of it."`
	Options map[string]string `json:"options,omitempty"`
	Groups  []string          `json:"groups,omitempty"`
	Lights  int               `json:"lights,omitempty" doc:"Outputs that can be lights."`
	Shades  int               `json:"shades,omitempty" doc:"Outputs that can be shades, which take outputs that could be lights."`
}

// FoundOf tells what a scan found in the words of this door.
func FoundOf(f appliance.Found) Found {
	out := Found{
		Address: f.Address, Finding: string(f.Finding), Trouble: f.Finding.Trouble(), Kind: f.Kind, Others: f.Others,
		Label: f.Label, Serial: f.Serial, Version: f.Version, Detail: f.Detail, Advice: f.Advice, Gateway: f.Gateway,
		Nodes: f.Nodes, New: f.New, Options: f.Options, Groups: f.Groups, Lights: f.Lights, Shades: f.Shades,
	}
	if f.Line != (appliance.LineSettings{}) {
		out.Line = new(Line(f.Line))
	}
	return out
}

// ServiceStep is what a service learned.
type ServiceStep struct {
	Address string `json:"address,omitempty"`
	Facts   []Fact `json:"facts"`
}

// Fact is one thing that a service learned: a string, a number or a boolean.
type Fact struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// GroupStep tells how far one device is.
type GroupStep struct {
	Device string `json:"device" doc:"Empty: about the bus."`
	What   string `json:"what"`
}

// MeasuredLeg is the outcome of one leg of a calibration, in seconds.
type MeasuredLeg struct {
	Leg
	Seconds     float64 `json:"seconds"`
	Uncertainty float64 `json:"uncertainty"`
}

// ShadeResult is what a run found out about a shade.
type ShadeResult struct {
	ID      appliance.ID  `json:"id"`
	Name    string        `json:"name"`
	Old     ShadeSettings `json:"old"`
	New     ShadeSettings `json:"new"`
	Up      *Travel       `json:"up,omitempty"`
	Down    *Travel       `json:"down,omitempty"`
	Watched bool          `json:"watched" doc:"By a person; else by the shade's own position."`
	Saved   bool          `json:"saved"`
}

// ShadeSettings are what commissioning finds out about a shade; times in seconds.
type ShadeSettings struct {
	TravelUp   float64 `json:"travelUp"`
	TravelDown float64 `json:"travelDown"`
	Inverted   bool    `json:"inverted"`
}

// Travel is how long a shade takes from one end to the other, in seconds.
type Travel struct {
	Seconds     float64   `json:"seconds"`
	Uncertainty float64   `json:"uncertainty"`
	Spread      float64   `json:"spread"`
	Runs        []float64 `json:"runs"`
}

// accepted answers with a job that was begun, or was not.
func accepted(c echo.Context, j appliance.Job, err error) error {
	var conflict *appliance.JobConflict
	switch {
	case errors.As(err, &conflict):
		return &refusal{status: http.StatusConflict, detail: err.Error(), job: conflict.Job.ID}
	case err != nil:
		return err
	}
	c.Response().Header().Set("Location", prefix+"/jobs/"+j.ID)
	return answer(c, http.StatusAccepted, jobOf(j))
}

func jobOf(j appliance.Job) Job {
	out := Job{
		ID: j.ID, Kind: string(j.Kind), Subject: j.Subject, Bus: j.Bus, Address: j.Address, Shade: j.Shade, By: j.By.Who,
		State: string(j.State), StartedAt: stampOf(j.StartedAt), EndedAt: stampOf(j.EndedAt),
		Progress: JobProgress{Text: j.Progress.Text, Done: j.Progress.Done, Share: j.Progress.Share},
		Found:    len(j.Items), Items: make([]any, len(j.Items)), Error: j.Err,
	}
	if j.Kind == appliance.JobService {
		out.Service = j.By.Why
	}
	if m := j.Progress.Moving; m != nil {
		out.Progress.Moving = &Moving{Leg: Leg(m.Leg), Elapsed: seconds(m.Elapsed)}
		if m.Position.OK() {
			out.Progress.Moving.Position = new(int(m.Position.Value))
		}
	}
	if q := j.Question; q != nil {
		out.Question = &JobQuestion{q.Number, q.Ask, Leg(q.Leg), q.Choices, string(q.Again), seconds(q.Took), seconds(q.Other)}
	}
	for i, item := range j.Items {
		out.Items[i] = itemOf(item)
	}
	if r, ok := j.Result.(appliance.ShadeOutcome); ok {
		out.Result = &ShadeResult{ID: r.Shade, Name: r.Name, Old: settingsOf(r.Old), New: settingsOf(r.New), Watched: r.Watched, Saved: r.Saved}
		if j.Kind == appliance.JobCalibrate {
			out.Result.Up, out.Result.Down = travelOf(r.Up), travelOf(r.Down)
		}
	}
	return out
}

func itemOf(item any) any {
	switch v := item.(type) {
	case appliance.Found:
		return FoundOf(v)
	case appliance.PortAnswer:
		return PortAnswer{v.Bus.Driver, v.Bus.Port, Line(v.Bus.Line), v.Bus.Options, FoundOf(v.Found)}
	case appliance.ServiceStep:
		out := ServiceStep{Address: v.Address, Facts: make([]Fact, len(v.Facts))}
		for i, f := range v.Facts {
			out.Facts[i] = Fact(f)
		}
		return out
	case appliance.GroupProgress:
		return GroupStep(v)
	case appliance.MeasuredLeg:
		return MeasuredLeg{Leg(v.Leg), seconds(v.Took), seconds(v.Uncertainty)}
	}
	return item
}

func settingsOf(s appliance.ShadeSettings) ShadeSettings {
	return ShadeSettings{s.TravelUp.Seconds(), s.TravelDown.Seconds(), s.Inverted}
}

func travelOf(t appliance.Travel) *Travel {
	out := &Travel{Seconds: seconds(t.Mean), Uncertainty: seconds(t.Uncertainty), Spread: seconds(t.Spread), Runs: make([]float64, len(t.Runs))}
	for i, r := range t.Runs {
		out.Runs[i] = seconds(r)
	}
	return out
}

// seconds to the hundredth.
func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

// JobRequest begins a job.
type JobRequest struct {
	Kind string `json:"kind" enum:"scan,identify,service,groups,calibrate,direction,findout"`

	Bus         string            `json:"bus,omitempty" doc:"Name or UUID; of a scan, identify, service, groups."`
	Address     string            `json:"address,omitempty" doc:"Of identify, in the words of the bus's driver."`
	Profile     string            `json:"profile,omitempty" doc:"Of identify, for a device that the site does not have: one that cannot show itself has an output switched three times, and is left as it was."`
	Output      int               `json:"output,omitempty" doc:"Of identify, with a profile: the light output, from 1; 0: the first."`
	First       int               `json:"first,omitempty" doc:"Of a scan: the first address."`
	Last        int               `json:"last,omitempty" doc:"Of a scan: the last address."`
	AllSettings bool              `json:"allSettings,omitempty" doc:"Of a scan: try other usual bit rates and parities as well."`
	Port        string            `json:"port,omitempty" doc:"Of findout: the port that no bus uses, as a bus would have it; of a socket tcp://host:port."`
	Service     string            `json:"service,omitempty" doc:"See /buses/{bus}/services."`
	Inputs      map[string]string `json:"inputs,omitempty"`
	Node        appliance.ID      `json:"node,omitempty" doc:"Of identify, instead of bus and address."`

	Shade  appliance.ID `json:"shade,omitempty" doc:"Of calibrate and direction; of identify, instead of bus and address."`
	Runs   int          `json:"runs,omitempty" doc:"Of calibrate: how often both ways; 0: once if the motor tells its position, else twice."`
	Ask    bool         `json:"ask,omitempty" doc:"Of calibrate: ask before every leg."`
	DryRun bool         `json:"dryRun,omitempty" doc:"Save nothing."`

	OldTimes string `json:"oldTimes,omitempty" enum:"ask,replace" doc:"Of calibrate: what becomes of them. Left out: a person is asked."`
}

// startJob begins a job: 202 with its place in Location, 409 if its subject has one.
func (a *API) startJob(c echo.Context) error {
	var in JobRequest
	if err := read(c, &in); err != nil {
		return err
	}
	by := callerOf(c).origin("")
	if in.Kind == "identify" && (in.Node != 0 || in.Shade != 0) {
		if err := a.placeOf(&in); err != nil {
			return err
		}
	}
	switch in.Kind {
	case "scan", "identify", "service", "groups":
		b, err := findBus(a.Core.Snapshot(), in.Bus)
		if err != nil {
			return meaningless("/bus", "there is no bus "+strconv.Quote(in.Bus))
		}
		in.Bus = b.Bus.Name
	}
	j, err := a.begun(in, by)
	if errors.Is(err, appliance.ErrNotFound) {
		return meaningless("", err.Error())
	}
	return accepted(c, j, err)
}

// placeOf fills in where a node or a shade is.
func (a *API) placeOf(in *JobRequest) error {
	s := a.Core.Snapshot()
	node := in.Node
	if sh := s.Shade(in.Shade); sh != nil {
		node = sh.Shade.Node
	}
	n := s.Node(node)
	if n == nil {
		return meaningless("/node", "there is no such node or shade, or it waits for binding")
	}
	in.Bus, in.Address = busName(s, n.Node.Bus), n.Node.Address
	return nil
}

func (a *API) begun(in JobRequest, by appliance.Origin) (appliance.Job, error) {
	run := control.ShadeRun{Shade: in.Shade, Runs: in.Runs, Ask: in.Ask, Dry: in.DryRun, Replace: in.OldTimes == "replace"}
	switch in.Kind {
	case "scan":
		if in.First < 0 || in.Last < 0 || in.Last > 0 && in.First > in.Last {
			return appliance.Job{}, meaningless("/first", "want two addresses, the lower one first")
		}
		return a.Jobs.StartScan(in.Bus, appliance.ScanOptions{First: in.First, Last: in.Last, AllSettings: in.AllSettings}, by)
	case "identify":
		if in.Output < 0 {
			return appliance.Job{}, meaningless("/output", "outputs count from 1")
		}
		return a.Jobs.StartIdentify(control.Showing{Bus: in.Bus, Address: in.Address, Node: in.Node, Profile: in.Profile, Output: in.Output}, by)
	case "service":
		return a.Jobs.StartService(in.Bus, in.Service, in.Inputs, by)
	case "groups":
		return a.Jobs.StartGroups(in.Bus, by)
	case "calibrate":
		if in.Runs < 0 || in.Runs > 10 {
			return appliance.Job{}, meaningless("/runs", "want 0 to 10")
		}
		if in.OldTimes != "" && in.OldTimes != "ask" && in.OldTimes != "replace" {
			return appliance.Job{}, meaningless("/oldTimes", "want ask or replace")
		}
		return a.Jobs.StartCalibration(run, by)
	case "direction":
		return a.Jobs.StartDirection(run, by)
	case "findout":
		j, err := a.Within.Ports.FindOut(in.Port, by)
		if errors.Is(err, appliance.ErrOutOfRange) {
			return j, meaningless("/port", err.Error())
		}
		return j, edited(err)
	}
	return appliance.Job{}, noKind("job", in.Kind, "scan", "identify", "service", "groups", "calibrate", "direction", "findout")
}

// jobs lists those under way and the last that ended, newest first.
func (a *API) jobs(c echo.Context) error {
	return answer(c, http.StatusOK, jobsOf(a.Jobs.Jobs().List()))
}

func jobsOf(list []appliance.Job) []Job {
	out := make([]Job, len(list))
	for i, j := range list {
		out[len(list)-1-i] = jobOf(j)
	}
	return out
}

func (a *API) job(c echo.Context) error {
	j, ok := a.Jobs.Jobs().Get(c.Param("id"))
	if !ok {
		return notThere("job", c.Param("id"))
	}
	return answer(c, http.StatusOK, jobOf(j))
}

// cancelJob cancels a job: 202, since a shade may have to be stopped first.
func (a *API) cancelJob(c echo.Context) error {
	j, err := a.Jobs.Jobs().Cancel(c.Param("id"), callerOf(c).origin(""))
	if err != nil {
		return notThere("job", c.Param("id"))
	}
	if j.State.Over() {
		return refuse(http.StatusConflict, "this job is over: it is "+string(j.State))
	}
	return answer(c, http.StatusAccepted, jobOf(j))
}

// JobAnswer answers the open question of a job.
type JobAnswer struct {
	Number int    `json:"number" doc:"Of the question."`
	Answer string `json:"answer"`
}

func (a *API) answerJob(c echo.Context) error {
	var in JobAnswer
	if err := read(c, &in); err != nil {
		return err
	}
	switch err := a.Jobs.Jobs().Answer(c.Param("id"), in.Number, in.Answer); {
	case errors.Is(err, appliance.ErrNotFound):
		return notThere("job", c.Param("id"))
	case errors.Is(err, appliance.ErrNoQuestion):
		return refuse(http.StatusConflict, "nobody waits for this answer any more")
	case errors.Is(err, appliance.ErrOutOfRange):
		return meaningless("/answer", err.Error())
	case err != nil:
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
