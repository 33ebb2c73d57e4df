package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/console"
	"svc.internal/controller/admin/operations"
	"svc.internal/controller/admin/pages"
	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/automation"
	"svc.internal/controller/drivers"
	"svc.internal/controller/publicapi"
	"svc.internal/controller/shelf/account/bearer"
	"svc.internal/controller/shelf/board"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/memory"
	"svc.internal/controller/shelf/ui"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/store"
	"svc.internal/controller/store/past"
	"svc.internal/controller/systemd"
)

// serveConfig is what the daemon needs to boot; everything else is in the data
// directory.
type serveConfig struct {
	listen       string
	insecureHTTP string
	hosts        []string
	certFile     string
	keyFile      string
	tokenLife    time.Duration
	backupDir    string
	stick        string
	tunnel       bool
	system       string
	updateLocal  bool
	devices      string

	from   handover // the run before, in the same process
	ground ground
}

func newServe(a *app) *cobra.Command {
	var cfg serveConfig
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon: open the buses of the site in the data directory and serve the
public API over HTTPS. A certificate is made at the first start and kept; its public
part is written to certificate.pem in the data directory for clients to trust.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), cfg) },
	}
	f := c.Flags()
	f.StringVar(&cfg.listen, "listen", ":443", "`address` to serve HTTPS on, or \"systemd\" for the socket that systemd opened")
	f.StringVar(&cfg.insecureHTTP, "insecure-http", "", "loopback `address` to serve plain HTTP on besides; none by default")
	f.StringSliceVar(&cfg.hosts, "host", nil, "further host `name` or address for the certificate made at the first start")
	f.StringVar(&cfg.certFile, "tls-cert", "", "own certificate chain, PEM `file`; read again when it changes")
	f.StringVar(&cfg.keyFile, "tls-key", "", "key of the own certificate, PEM `file`")
	f.DurationVar(&cfg.tokenLife, "token-lifetime", time.Hour, "how long an access token lasts, of /svc/api and of /api/v1")
	f.StringVar(&cfg.backupDir, "backup-dir", "", "`directory` for the nightly backups, such as a mounted one; default backups in the data directory")
	f.StringVar(&cfg.stick, "backup-stick", "", "`directory` where the system mounts a USB stick for copies of the backups, encrypted; none by default")
	f.BoolVar(&cfg.tunnel, "tunnel", false, "let the platform that this controller is enrolled at bring requests to /svc/api here; they need a token as any others do")
	f.StringVar(&cfg.system, "appliance", "", "`directory` in which the appliance's system says how it is; it then takes updates, and which network the box is to be in, from the data directory")
	f.StringVar(&cfg.devices, "devices", "", "`directory` in which serial/by-id names the adapters that can be chosen for a bus; default /dev")
	f.BoolVar(&cfg.updateLocal, "update-from-local", false, "let an admin have updates fetched from loopback and link-local addresses, too, such as a mirror on this machine")
	return c
}

// check finds wrong settings before anything is opened.
func (cfg serveConfig) check() error {
	if (cfg.certFile == "") != (cfg.keyFile == "") {
		return cli.Usage(errors.New("--tls-cert and --tls-key go together"))
	}
	if cfg.insecureHTTP == "" {
		return nil
	}
	addr, err := netip.ParseAddrPort(cfg.insecureHTTP)
	if err != nil || !addr.Addr().IsLoopback() {
		return cli.Usage(fmt.Errorf("--insecure-http %s: plain HTTP is served on loopback only, such as 127.0.0.1:8080", cfg.insecureHTTP))
	}
	return nil
}

func (a *app) serve(ctx context.Context, cfg serveConfig) error {
	if err := cfg.check(); err != nil {
		return err
	}
	go keepMemory(ctx)
	log := cli.Log(&a.LogLevel)
	limit, from := memory.SetLimit(memoryMost)
	log.Info("memory", "limit_mb", limit>>20, "from", from)
	for {
		next, err := a.serveOnce(ctx, cfg, log)
		if next == nil {
			return err
		}
		if err != nil {
			log.Warn("not an orderly end; the backup is restored all the same", "why", err)
		}
		cfg.from = a.restore(ctx, next, log)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// serveOnce runs the daemon until ctx ends, or until a backup is to be restored.
func (a *app) serveOnce(ctx context.Context, cfg serveConfig, log *slog.Logger) (*restoration, error) {
	d, end, err := a.prepare(ctx, cfg, log)
	defer end()
	if rescuable(err) && ctx.Err() == nil {
		return nil, a.rescue(ctx, cfg, err, log)
	}
	if err != nil {
		return nil, err
	}
	err = d.run(ctx)
	return d.next.Load(), err
}

// prepare takes the data directory and makes the daemon of its site; end gives back what it
// took, whether that went well or not.
func (a *app) prepare(ctx context.Context, cfg serveConfig, log *slog.Logger) (d *daemon, end func(), err error) {
	lines := api.NewLines()
	log = lines.Log(log)
	guard, err := store.Lock(a.DataDir)
	if err != nil {
		return nil, func() {}, a.LockAdvice(err, "it serves already: systemctl status controllerd tells more")
	}
	db, err := store.Open(ctx, a.DataDir, log)
	if err != nil {
		return nil, func() { guard.Release() }, err
	}
	drivers.CheckOwnProfiles(a.DataDir, func(err error) {
		log.Warn("an own profile cannot be used; mend the file, and try it with controllerd site check", "error", err)
	})
	d, err = a.newDaemon(ctx, db, cfg, lines, log)
	return d, func() { db.Close(); guard.Release() }, err
}

// daemon is the running program.
type daemon struct {
	log   *slog.Logger
	db    *store.Store
	core  *control.Controller
	api   *publicapi.API
	admin *api.API
	pages *ui.Pages
	cert  *web.Certificate
	crowd *web.Crowd
	cloud *cloud
	board *board.Watch
	rules *automation.Rules
	ports *operations.Ports
	past  *past.Recorder

	dataDir string
	nightly nightly
	from    handover
	ground  ground

	end  context.CancelFunc // ends run
	next atomic.Pointer[restoration]

	doors doors
}

// doors are what a daemon is reached by: http may be nil, and so may local, where no socket can be made, and
// claim, which the system of an appliance opens.
type doors struct{ https, http, claim, local net.Listener }

func (a *app) newDaemon(ctx context.Context, db *store.Store, cfg serveConfig, lines *api.Lines, log *slog.Logger) (*daemon, error) {
	d := &daemon{log: log, db: db, dataDir: a.DataDir, crowd: web.NewCrowd(log), nightly: nightly{folder: cfg.backups(a.DataDir)}, from: cfg.from, ground: cfg.ground}
	d.cloud = newCloud(d, cfg)
	d.board = board.New(cmp.Or(cfg.ground.sys, "/sys"))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(d.crowd.Metrics("controller")...)
	registry.MustRegister(buildInfo(), keptMetric(db.Kept), boardMetrics{d.board})
	d.core = control.New(control.Options{
		Drivers: drivers.On(cfg.ground.ports), Journal: db, GroupBook: db, SaveShade: db.SetShade, DataDir: a.DataDir, Log: log,
	})
	d.ports = &operations.Ports{Core: d.core, DataDir: a.DataDir, Root: cfg.devices, On: cfg.ground.ports}
	if err := d.loadSite(ctx); err != nil {
		return nil, err
	}
	if err := d.core.Restore(ctx); err != nil {
		return nil, err
	}
	d.rules = automation.NewRules(d.core, time.Now(), log)
	if past, err := db.Entries(ctx, pastEntries, ""); err == nil { // a nicety: else rules yield to nobody
		slices.Reverse(past)
		d.rules.Remember(past)
	}
	var err error
	if d.cert, err = certificate(ctx, db, cfg, log); err != nil {
		return nil, err
	}
	if err := db.KeepCertificate(ctx, absolute(cfg.certFile), absolute(cfg.keyFile)); err != nil {
		log.Warn("backups will not hold the own certificate", "why", err)
	}
	if err := d.tolerable(a.publishCertificate(d.cert)); err != nil {
		return nil, err
	}
	clock := cfg.ground.time()
	d.past = past.New(a.DataDir, past.Clock{Wall: clock.Wall, Mono: clock.Mono, Right: past.SystemRight}, log)
	brake := web.NewBrake(clock, d.hasUser) // of both doors: one password is not to be guessed at two
	if d.api, err = d.newAPI(ctx, cfg, registry, brake, clock); err != nil {
		return nil, err
	}
	d.nightly.offsite = operations.NewOffsite(ctx, db, cfg.stick, log)
	if err := d.nightly.offsite.TakePrepared(ctx, a.DataDir); err != nil {
		log.Error("set the key for backups that leave the box on the page Backup", "why", err)
	}
	registry.MustRegister(offsiteMetrics(d.nightly.offsite)...)
	shown := &identity{d.cert, db, cfg.certFile != "", a.publishCertificate}
	if d.admin, err = d.newAdmin(ctx, cfg.tokenLife, shown, d.within(lines, registry), systemBelow(cfg.system, a.DataDir, cfg.updateLocal), brake, clock); err != nil {
		return nil, err
	}
	if d.pages, err = pages.New(); err != nil {
		return nil, err
	}
	return d, a.openDoors(d, cfg)
}

func (d *daemon) newAPI(ctx context.Context, cfg serveConfig, registry *prometheus.Registry, brake *web.Brake, clock web.Clock) (*publicapi.API, error) {
	secret, err := d.db.Secret(ctx, "token-secret", randomSecret)
	if err != nil {
		return nil, err
	}
	tokens, err := bearer.New(secret, "", cfg.tokenLife, d.db, clock)
	if err != nil {
		return nil, err
	}
	return publicapi.New(publicapi.Config{
		Core: d.core, Accounts: d.db, Tokens: tokens, Brake: brake,
		Ready: d.core.Ready, Kept: d.db.Kept, Metrics: registry, Log: d.log,
	})
}

// openDoors binds every address, so that a start that cannot serve fails here.
func (a *app) openDoors(d *daemon, cfg serveConfig) (err error) {
	if d.doors.https, d.doors.http, err = cfg.bind(); err != nil {
		return err
	}
	d.doors.claim = systemd.ClaimPage()
	d.doors.local, err = listenLocal(a.DataDir, cfg.ground)
	return d.tolerable(err)
}

// bind opens the sockets for HTTPS and, if it is wanted, for plain HTTP; those of the run before are taken over.
func (cfg serveConfig) bind() (https, plain net.Listener, err error) {
	if https = cfg.from.https; https == nil {
		if https, err = cfg.ground.https(cfg.listen); err != nil {
			return nil, nil, fmt.Errorf("serve HTTPS: %w%s", err, cli.ListenHint("--listen", err))
		}
	}
	if plain = cfg.from.http; plain == nil && cfg.insecureHTTP != "" {
		if plain, err = cfg.ground.open("tcp", cfg.insecureHTTP); err != nil {
			return nil, nil, fmt.Errorf("serve plain HTTP: %w", err)
		}
	}
	return https, plain, nil
}

// tolerable logs what could not be written on a disk that takes nothing, where lights obey all the same.
func (d *daemon) tolerable(err error) error {
	if err != nil && (store.Broken(err) || d.db.Kept() != nil) {
		d.log.Error("left out, since the disk cannot be written", "why", err)
		return nil
	}
	return err
}

// run serves until ctx ends: then the doors let those under way finish, and only when the last
// has his answer the core ends, with everything saved.
func (d *daemon) run(ctx context.Context) error {
	e := web.New(web.Config{Log: d.log, Errors: publicapi.Errors, Certificate: d.cert})
	d.api.Register(e)
	d.admin.Register(e)
	d.pages.Register(e)
	ctx, d.end = context.WithCancel(ctx)
	defer d.end()
	below, endCore := context.WithCancel(context.WithoutCancel(ctx))
	defer endCore()
	core := make(chan error, 1)
	go func() { core <- d.core.Run(below); d.end() }()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return web.Serve(ctx, d.doors.https, e, d.cert.TLS(), d.crowd) })
	if d.doors.http != nil {
		g.Go(func() error { return web.Serve(ctx, d.doors.http, web.OnLoopback(e), nil, d.crowd) })
	}
	if d.doors.claim != nil {
		page := claimPage(d.cert, func() bool { return len(d.db.Users()) == 0 })
		g.Go(func() error { return web.Serve(ctx, d.doors.claim, page, nil, d.crowd) })
	}
	g.Go(func() error { return d.admin.Run(ctx) })
	g.Go(func() error { return d.cloud.run(ctx) })
	g.Go(func() error { return d.cloud.enrolPrepared(ctx) })
	g.Go(func() error { return d.board.Run(ctx) })
	g.Go(func() error { return d.rules.Run(ctx) })
	g.Go(func() error { return d.ports.Run(ctx) })
	g.Go(func() error { return d.past.Run(ctx, d.core.Snapshot) })
	g.Go(func() error { return d.backupNightly(ctx) })
	g.Go(func() error { return d.nightly.offsite.Run(ctx) })
	g.Go(func() error { return d.watchNightly(ctx) })
	here := web.New(web.Config{Log: d.log, Errors: api.Errors})
	d.admin.Register(here)
	g.Go(func() error { return d.answerHere(ctx, here) })
	g.Go(func() error { return systemd.FeedWatchdog(ctx, d.alive, d.log) })
	g.Go(func() error { d.tellStatus(ctx); return nil })
	context.AfterFunc(ctx, func() {
		d.core.EndJobs()
		if d.next.Load() != nil {
			d.log.Info("a backup is to be restored: calls under way may finish, those that come wait")
			return // to systemd this goes on
		}
		d.log.Info("stopping: no more calls are taken, those under way may finish")
		systemd.Stopping(d.log)
	})
	g.Go(func() error { d.db.Watch(ctx, d.changed(ctx)); return nil })
	d.log.Info("serving", "https", d.doors.https.Addr().String(), "fingerprint", d.cert.Fingerprint(), "version", version)
	d.claimable()
	d.from.taken()
	systemd.Ready(d.log) // the claim code is there by then, which the appliance's system looks for
	err := g.Wait()
	endCore()
	err = errors.Join(err, <-core)
	if err == nil {
		d.log.Info("stopped")
	}
	return err
}

// tellStatus tells systemd how the controller is, whenever that changes, until ctx ends: "systemctl status" shows it, and so does the
// appliance's lamp, which knows these words (buildroot/board/common/overlay/usr/lib/appliance/lamp).
func (d *daemon) tellStatus(ctx context.Context) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for was := ""; ; {
		words := "in order"
		if len(d.db.Users()) == 0 {
			words = "waits to be claimed"
		} else if silent := d.admin.SilentBuses(); len(silent) > 0 {
			words = "a bus is silent: " + strings.Join(silent, ", ")
		}
		if words != was && ctx.Err() == nil {
			systemd.Status(d.log, words)
			was = words
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// hasUser reports whether there is an account of this name.
func (d *daemon) hasUser(name string) bool {
	_, ok := d.db.User(name)
	return ok
}

// alive reports whether buses and store make progress.
func (d *daemon) alive(ctx context.Context) error {
	if err := d.core.Ready(); err != nil {
		return err
	}
	return d.db.Alive(ctx)
}

// loadSite puts the stored site in force. What cannot be read of it is named and
// the rest runs.
func (d *daemon) loadSite(ctx context.Context) error {
	site, faults, err := d.db.Site(ctx)
	if err != nil {
		return fmt.Errorf("load site: %w", err)
	}
	if err := d.db.Kept(); err != nil {
		faults = append(faults, appliance.Fault{Where: "storage", What: "nothing is kept, and changes are refused: the disk is full or cannot be written (" + err.Error() + "); make room, no restart is needed; log-ins of meanwhile end when it is over"})
	}
	if f, ok := d.from.fault(); ok {
		faults = append(faults, f)
	}
	d.core.Apply(site, faults)
	if len(site.Buses) == 0 {
		d.log.Warn("the site is empty; find what is on a port with: " + console.HowToBegin)
	}
	return nil
}

// changed takes over what another process, or this one, stored.
func (d *daemon) changed(ctx context.Context) func(store.Change) {
	return func(c store.Change) {
		if c.Accounts {
			d.claimable()
		}
		if c.Cloud {
			d.cloud.again()
		}
		if !c.Site && !c.Kept {
			return
		}
		if err := d.loadSite(ctx); err != nil {
			d.log.Error("changed site not taken over, the old one stays in force", "why", err)
			return
		}
		d.log.Info("changed site taken over")
	}
}

// pastEntries of the ledger tell rules at the start what was set by hand.
const pastEntries = 500

// certificateFile shows clients whom to trust.
const certificateFile = "certificate.pem"

func (a *app) publishCertificate(c *web.Certificate) error {
	path := filepath.Join(a.DataDir, certificateFile)
	if old, err := os.ReadFile(path); err == nil && string(old) == string(c.PEM()) {
		return nil
	}
	part := path + ".part" // who reads it meanwhile finds the old one
	err := os.WriteFile(part, c.PEM(), 0o644)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return fmt.Errorf("write certificate for clients: %w", err)
	}
	return nil
}
