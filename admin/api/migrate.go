package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/site/migration"
)

// Houses takes the houses of other controllers over.
type Houses interface {
	// Shown tells which controller is at an address, and the fingerprint of the certificate
	// that it shows. Nothing else is asked of it.
	Shown(ctx context.Context, address string) (source, fingerprint string, err error)
	// ReadHouse reads all that it runs, slowly, and commands nothing.
	ReadHouse(ctx context.Context, from MigrationSource) (House, error)
	Undo(ctx context.Context, id int64, force bool, by string) (int64, error)
	Migrations(ctx context.Context) ([]Migration, error)
}

// House of another controller, as it was read once.
type House interface {
	Source() string
	// Plan tells what it means here now.
	Plan(ctx context.Context) (migration.Plan, error)
	// TakeOver makes a backup and takes the house over, all of it or nothing. The ID is 0 if
	// nothing was changed: because of conflicts that are not to be skipped, or because
	// nothing is new.
	TakeOver(ctx context.Context, how MigrationStart, by string) (done Migrated, plan migration.Plan, err error)
}

// builtOn is the error of undoing what people have changed since.
type builtOn interface {
	error
	Since() []string
}

// ControllerAddress is where another controller answers.
type ControllerAddress struct {
	URL string `json:"url" doc:"Such as https://old-controller.local."`
}

// ControllerShown is what a controller shows of itself before anything is sent to it.
type ControllerShown struct {
	Source      string `json:"source" doc:"Host and port: whose IDs these are."`
	Fingerprint string `json:"fingerprint" doc:"SHA-256 of its certificate; compare it with what that controller itself shows."`
}

// MigrationSource is the controller whose house is read. The password is used for the
// log-in there, and kept nowhere.
type MigrationSource struct {
	URL         string `json:"url" doc:"Such as https://old-controller.local."`
	Username    string `json:"username"`
	Password    string `json:"password"`
	Fingerprint string `json:"fingerprint" doc:"SHA-256 of its certificate, 64 hexadecimal digits, in any case, with colons or without."`
}

// MigrationItem is one thing of the other house.
type MigrationItem struct {
	ID     int64            `json:"id"`
	Name   string           `json:"name"`
	Action migration.Action `json:"action" enum:"create,return,rename,change,unchanged,skip"`
}

// MigrationConflict is something that cannot come over: it is never given another ID.
type MigrationConflict struct {
	Kind  migration.Family `json:"kind" enum:"cluster,node,shade"`
	ID    int64            `json:"id"`
	Here  string           `json:"here" doc:"What stands in the way."`
	There string           `json:"there" doc:"Its name in the other house."`
}

// MigrationChange is how the other house differs from when it was last taken over.
type MigrationChange struct {
	Kind  migration.Family `json:"kind" enum:"cluster,node,shade"`
	ID    int64            `json:"id"`
	What  string           `json:"what" enum:"new,renamed,gone,joined,left"`
	Here  string           `json:"here"`
	There string           `json:"there"`
}

// MigrationPlan is what taking a house over does.
type MigrationPlan struct {
	Clusters  []MigrationItem     `json:"clusters"`
	Nodes     []MigrationItem     `json:"nodes"`
	Shades    []MigrationItem     `json:"shades"`
	Conflicts []MigrationConflict `json:"conflicts"`
	Warnings  []string            `json:"warnings"`
	Changes   []MigrationChange   `json:"changes" doc:"Since it was taken over last."`
}

// MigrationPreview is the house that was read last, and what it means here now.
type MigrationPreview struct {
	ID     string     `json:"id" doc:"Of the job that read it; POST /migrations wants it."`
	Source string     `json:"source"`
	ReadAt *time.Time `json:"readAt"`
	MigrationPlan
}

// MigrationStart takes over the house that was read.
type MigrationStart struct {
	Preview      string `json:"preview" doc:"ID of the preview that was looked at."`
	OnConflict   string `json:"onConflict,omitempty" enum:"refuse,skip" doc:"refuse, if left out: nothing comes over. skip: what conflicts is left out."`
	InvertShades bool   `json:"invertShades,omitempty" doc:"100 meant closed there: turn the direction of shades on the public API."`
	Watch        bool   `json:"watch,omitempty" doc:"Look every night for what has changed there. Its refresh token is kept for that, as a secret."`
}

// Migrated is what became of it.
type Migrated struct {
	ID     int64  `json:"id" doc:"Of the migration; 0: nothing was new, and nothing was changed."`
	Source string `json:"source"`
	Backup string `json:"backup" doc:"The file of the backup that was made before."`
	MigrationPlan
}

// Migration is one that was made.
type Migration struct {
	ID       int64      `json:"id"`
	Source   string     `json:"source"`
	At       *time.Time `json:"at"`
	By       string     `json:"by"`
	UndoneAt *time.Time `json:"undoneAt" doc:"null: it holds."`
	Clusters int        `json:"clusters" doc:"How many came over."`
	Nodes    int        `json:"nodes"`
	Shades   int        `json:"shades"`

	Watch *MigrationWatch `json:"watch" doc:"At the newest of a house that holds; null: nobody looks there."`
}

// MigrationWatch is what looking at a house every night has found.
type MigrationWatch struct {
	LookedAt    *time.Time `json:"lookedAt"`
	Differences int        `json:"differences" doc:"From when it was taken over."`
	Trouble     string     `json:"trouble,omitempty" doc:"Why the last look failed."`
}

// MigrationUndo takes a migration back.
type MigrationUndo struct {
	Force bool `json:"force,omitempty" doc:"Although it was changed since."`
}

// readHouse is the house that was read last: what is applied is what was looked at, and
// no password is needed for it again.
type readHouse struct {
	mu    sync.Mutex
	id    string
	at    time.Time
	house House
}

func (r *readHouse) put(id string, house House) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.id, r.at, r.house = id, time.Now(), house
}

func (r *readHouse) get() (id string, at time.Time, house House) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.id, r.at, r.house
}

// shown looks which certificate another controller has.
func (a *API) shown(c echo.Context) error {
	var in ControllerAddress
	if err := read(c, &in); err != nil {
		return err
	}
	source, fingerprint, err := a.Houses.Shown(c.Request().Context(), in.URL)
	if err != nil {
		return meaningless("/url", err.Error())
	}
	return answer(c, http.StatusOK, ControllerShown{source, fingerprint})
}

// readOther begins to read the house of another controller.
func (a *API) readOther(c echo.Context) error {
	var in MigrationSource
	if err := read(c, &in); err != nil {
		return err
	}
	for _, f := range []struct{ pointer, value string }{{"/url", in.URL}, {"/username", in.Username}, {"/password", in.Password}, {"/fingerprint", in.Fingerprint}} {
		if f.value == "" {
			return meaningless(f.pointer, "this is needed")
		}
	}
	var id string
	told := make(chan struct{})
	j, err := a.Jobs.Jobs().Start(appliance.Job{Kind: appliance.JobMigration, Subject: "another controller", By: callerOf(c).origin("")}, func(ctx context.Context, on *control.JobHand) (any, error) {
		on.Progress(appliance.JobProgress{Text: "reads the other house, four requests a second"})
		house, err := a.Houses.ReadHouse(ctx, in)
		if err != nil {
			return nil, err
		}
		<-told
		a.other.put(id, house)
		return nil, nil
	})
	id = j.ID
	close(told)
	return accepted(c, j, err)
}

// preview tells what the house that was read last means here.
func (a *API) preview(c echo.Context) error {
	id, at, house := a.other.get()
	if id == "" {
		return refuse(http.StatusNotFound, "no house was read since the start")
	}
	plan, err := house.Plan(c.Request().Context())
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, MigrationPreview{id, house.Source(), stampOf(at), planOf(plan)})
}

// takeOver takes the house that was read over, all of it or nothing.
func (a *API) takeOver(c echo.Context) error {
	var in MigrationStart
	if err := read(c, &in); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "refuse", "skip"}, in.OnConflict) {
		return meaningless("/onConflict", "want refuse or skip")
	}
	id, _, house := a.other.get()
	if id == "" || in.Preview != id {
		return refuse(http.StatusConflict, "this is not the house that was read last; look at the preview again")
	}
	ctx := context.WithoutCancel(c.Request().Context()) // all of it, whoever waits for the answer
	done, plan, err := house.TakeOver(ctx, in, callerOf(c).name)
	if err != nil {
		return err
	}
	if n := len(plan.Conflicts); n > 0 && in.OnConflict != "skip" {
		return refuse(http.StatusConflict, fmt.Sprintf("%d conflicts, and nothing came over: nothing is ever given another ID; \"onConflict\": \"skip\" leaves them out", n))
	}
	done.MigrationPlan = planOf(plan)
	if done.ID != 0 {
		a.audit(c, "migration.apply", fmt.Sprintf("migration %d from %s", done.ID, house.Source()), in)
		a.inForce(ctx, func(s *appliance.Snapshot) bool { return hasAll(s, plan) })
	}
	return answer(c, http.StatusOK, done)
}

// hasAll reports whether everything that came over is there.
func hasAll(s *appliance.Snapshot, plan migration.Plan) bool {
	there := func(items []migration.Item, found func(appliance.ID) bool) bool {
		return !slices.ContainsFunc(items, func(it migration.Item) bool { return it.Action != migration.Skip && !found(appliance.ID(it.ID)) })
	}
	return there(plan.Clusters, func(id appliance.ID) bool { return s.Cluster(id) != nil }) &&
		there(plan.Nodes, func(id appliance.ID) bool { return s.Node(id) != nil }) &&
		there(plan.Shades, func(id appliance.ID) bool { return s.Shade(id) != nil })
}

func planOf(p migration.Plan) MigrationPlan {
	items := func(list []migration.Item) []MigrationItem {
		out := make([]MigrationItem, len(list))
		for i, it := range list {
			out[i] = MigrationItem(it)
		}
		return out
	}
	out := MigrationPlan{Clusters: items(p.Clusters), Nodes: items(p.Nodes), Shades: items(p.Shades), Conflicts: []MigrationConflict{}, Changes: []MigrationChange{}, Warnings: p.Warnings}
	for _, v := range p.Conflicts {
		out.Conflicts = append(out.Conflicts, MigrationConflict(v))
	}
	for _, v := range p.Changes {
		out.Changes = append(out.Changes, MigrationChange(v))
	}
	return out
}

// migrations lists those that were made, newest first.
func (a *API) migrations(c echo.Context) error {
	list, err := a.Houses.Migrations(c.Request().Context())
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, list)
}

// undoMigration takes one back. What people built on it since is listed, and nothing done.
func (a *API) undoMigration(c echo.Context) error {
	var in MigrationUndo
	if err := read(c, &in); err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || id <= 0 {
		return notThere("migration", c.Param("id"))
	}
	_, err = a.Houses.Undo(context.WithoutCancel(c.Request().Context()), id, in.Force, callerOf(c).name)
	var since builtOn
	switch {
	case errors.As(err, &since):
		out := &refusal{status: http.StatusConflict, detail: "what came over was changed since, and nothing was undone; \"force\": true undoes it all the same", cause: err}
		for _, text := range since.Since() {
			out.fields = append(out.fields, FieldError{"", text})
		}
		return out
	case errors.Is(err, appliance.ErrInUse):
		return &refusal{status: http.StatusConflict, detail: err.Error(), cause: err}
	case errors.Is(err, appliance.ErrNotFound):
		return refuse(http.StatusNotFound, "there is no such migration that holds")
	case err != nil:
		return err
	}
	a.audit(c, "migration.undo", "migration "+itoa64(id), in)
	return c.NoContent(http.StatusNoContent)
}
