package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant"
	"svc.internal/controller/platform/assistant/model"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/login"
	"svc.internal/controller/platform/ratelimit"
	"svc.internal/controller/platform/site"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/memory"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/systemd"
)

// serveConfig is what one instance needs to boot. What all instances share comes from
// the environment.
type serveConfig struct {
	listen       string
	insecureHTTP string
	hosts        []string
	certFile     string
	keyFile      string
	proxies      []string
	mqttListen   string
}

func newServe(a *app) *cobra.Command {
	var cfg serveConfig
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon. A certificate is made at the first start and kept; its public part
is written to certificate.pem in the data directory for clients to trust.

DATABASE_URL (postgres://…) names a PostgreSQL database to use instead of the
SQLite file in the data directory. REDIS_URL (redis://…) names a Redis where requests
are counted for all instances together. MQTT_URL (mqtts://…) names a broker to use
instead of the one inside this program; docs/mqtt.md tells what it must be told. OIDC_ISSUER and OIDC_AUDIENCE name an identity
provider that is believed besides our own login; docs/platform.md tells the rest.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), cfg) },
	}
	f := c.Flags()
	f.StringVar(&cfg.listen, "listen", ":443", "`address` to serve HTTPS on, or \"systemd\" for the socket that systemd opened; empty: none")
	f.StringVar(&cfg.insecureHTTP, "insecure-http", "", "loopback `address` to serve plain HTTP on besides, for a reverse proxy; none by default")
	f.StringSliceVar(&cfg.hosts, "host", nil, "further host `name` or address for the certificate made at the first start")
	f.StringVar(&cfg.certFile, "tls-cert", "", "own certificate chain, PEM `file`; read again when it changes")
	f.StringVar(&cfg.keyFile, "tls-key", "", "key of the own certificate, PEM `file`")
	f.StringVar(&cfg.mqttListen, "mqtt-listen", ":8883", "`address` where controllers connect by MQTT over TLS, unless MQTT_URL names a broker")
	f.StringSliceVar(&cfg.proxies, "trusted-proxy", nil, "`address` or network of a reverse proxy whose X-Forwarded-For is believed, such as 127.0.0.1 or 10.0.0.0/8")
	return c
}

// prefixes reads addresses and networks.
func prefixes(texts []string) ([]netip.Prefix, error) {
	var nets []netip.Prefix
	for _, text := range texts {
		if addr, err := netip.ParseAddr(text); err == nil {
			nets = append(nets, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		net, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: want an address or a network, such as 127.0.0.1 or 10.0.0.0/8", text)
		}
		nets = append(nets, net.Masked())
	}
	return nets, nil
}

// check finds wrong settings before anything is opened.
func (cfg serveConfig) check() error {
	if (cfg.certFile == "") != (cfg.keyFile == "") {
		return cli.Usage(errors.New("--tls-cert and --tls-key go together"))
	}
	if cfg.insecureHTTP == "" {
		if cfg.listen == "" {
			return cli.Usage(errors.New("--listen is empty and there is no --insecure-http: nothing to serve on"))
		}
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
	set, err := readSettings(os.Getenv)
	if err == nil {
		err = set.voice.check(cfg)
	}
	if err != nil {
		return cli.Usage(err)
	}
	log := cli.Log(&a.logLevel)
	limit, from := memory.SetLimit(math.MaxInt64)
	log.Info("memory", "limit_mb", limit>>20, "from", from)
	db, err := store.Open(ctx, a.dataDir, set.databaseURL, log)
	if err != nil {
		return a.accessAdvice(err)
	}
	d := &daemon{log: log, db: db}
	if err = d.share(set); err == nil {
		err = a.open(ctx, d, cfg, set.mqtt)
	}
	if err == nil {
		err = d.run(ctx)
	}
	return errors.Join(err, db.Close())
}

// daemon is the running program.
type daemon struct {
	log   *slog.Logger
	db    *store.Store
	cert  *web.Certificate
	crowd *web.Crowd

	tokens  *login.Tokens
	limit   counter
	redis   *ratelimit.Shared // nil: counting in this process
	proxies []netip.Prefix

	cloud  *cloud
	speech voiceSettings
	rooms  conferencingSettings
	tunnel string // domain; empty: there is none

	sites platform.SiteReader // nil: there is nothing to ask the assistant about
	act   platform.Actuator   // nil: nothing can be controlled
	model model.Model         // nil: the assistant answers by rules
	price assistant.Price

	beside []func(context.Context) error // what works while requests are answered, until its context ends

	https, http net.Listener // one of them may be nil

	ending <-chan struct{} // closed when the program ends
}

// counter counts requests, in this process or for all instances.
type counter interface {
	gate.Limiter
	// Each calls f with every bucket of a key or user in use, and what is left of it.
	Each(f func(id string, left int))
}

// share sets up what all instances have in common.
func (d *daemon) share(set settings) (err error) {
	d.speech, d.rooms, d.tunnel = set.voice, set.rooms, set.tunnel
	var provider *login.Provider
	if set.provider.Issuer != "" {
		if provider, err = login.NewProvider(set.provider, d.db, d.log); err != nil { // of its settings only
			return cli.Usage(err)
		}
	}
	d.model, d.price = set.model, set.price
	d.tokens = login.NewTokens(d.db, d.db, provider)
	d.limit = ratelimit.NewLocal()
	if set.redisURL != "" {
		if d.redis, err = ratelimit.NewShared(set.redisURL, d.log); err != nil { // it is asked later
			return cli.Usage(err)
		}
		d.limit = d.redis
	}
	return nil
}

// open binds every address, so that a start that cannot serve fails here.
func (a *app) open(ctx context.Context, d *daemon, cfg serveConfig, mqtt brokerSettings) (err error) {
	if d.proxies, err = prefixes(cfg.proxies); err != nil {
		return cli.Usage(fmt.Errorf("--trusted-proxy %w", err))
	}
	door, err := d.bind(cfg, mqtt.url == "")
	if err != nil {
		return err
	}
	d.crowd = web.NewServerCrowd(d.log, d.proxies)
	if cfg.listen != "" || mqtt.url == "" {
		if d.tunnel != "" {
			cfg.hosts = append(cfg.hosts, "*."+d.tunnel)
		}
		if d.cert, err = certificate(ctx, d.db, cfg, d.log); err != nil {
			return err
		}
		if err := a.publishCertificate(d.cert); err != nil {
			return err
		}
	}
	d.sites = site.NewReader(d.db)
	if d.cloud, err = a.openCloud(ctx, d, cfg, mqtt, door); err == nil {
		d.act = d.cloud.link
	}
	return err
}

// run serves until ctx ends, then lets requests under way finish.
func (d *daemon) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	d.ending = ctx.Done()
	e, err := d.routes()
	if err != nil {
		return err
	}
	if d.redis != nil {
		g.Go(func() error { return d.redis.Run(ctx) })
	}
	g.Go(func() error { return d.cloud.run(ctx, d) })
	for _, run := range d.beside {
		g.Go(func() error { return run(ctx) })
	}
	if d.https != nil {
		g.Go(func() error { return web.Serve(ctx, d.https, e, d.cert.TLS(), d.crowd) })
		d.log.Info("serving", "https", d.https.Addr().String(), "fingerprint", d.cert.Fingerprint(), "version", version)
	}
	if d.http != nil {
		g.Go(func() error { return web.Serve(ctx, d.http, e, nil, d.crowd) })
		d.log.Info("serving", "http", d.http.Addr().String(), "version", version)
	}
	g.Go(func() error { return systemd.FeedWatchdog(ctx, d.db.Ping, d.log) })
	systemd.Ready(d.log)
	context.AfterFunc(ctx, func() {
		d.log.Info("stopping: no more calls are taken, those under way may finish")
		systemd.Stopping(d.log)
	})
	err = g.Wait()
	if err == nil {
		d.log.Info("stopped")
	}
	return err
}

// certificateFile shows clients whom to trust.
const certificateFile = "certificate.pem"

func (a *app) publishCertificate(c *web.Certificate) error {
	if err := os.MkdirAll(a.dataDir, 0o700); err != nil {
		return a.accessAdvice(fmt.Errorf("write certificate for clients: %w", err))
	}
	path := filepath.Join(a.dataDir, certificateFile)
	if old, err := os.ReadFile(path); err == nil && string(old) == string(c.PEM()) {
		return nil
	}
	if err := replaceFile(path, string(c.PEM()), 0o644); err != nil {
		return a.accessAdvice(fmt.Errorf("write certificate for clients: %w", err))
	}
	return nil
}
