package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/broker"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/quota"
	"svc.internal/controller/platform/site"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/web"
)

// brokerSettings are what all instances share about the broker.
type brokerSettings struct {
	url    string // MQTT_URL: where the platform connects; empty: the broker inside this process
	public string // MQTT_PUBLIC_URL: where controllers do
	ca     string // MQTT_CA_FILE: PEM certificates to trust that broker by
	files  string // MQTT_FILES: directory for Mosquitto's password and ACL files
}

func readBrokerSettings(getenv func(string) string) (brokerSettings, error) {
	env := brokerSettings{getenv("MQTT_URL"), getenv("MQTT_PUBLIC_URL"), getenv("MQTT_CA_FILE"), getenv("MQTT_FILES")}
	if env.url == "" {
		return env, nil
	}
	u, err := url.Parse(env.url)
	if err != nil || u.Host == "" || u.Scheme != "mqtts" && u.Scheme != "mqtt" {
		return env, cli.Usage(errors.New("MQTT_URL: want an address such as mqtts://platform:password@broker.example:8883"))
	}
	if env.public == "" {
		if u.Scheme != "mqtts" {
			return env, cli.Usage(errors.New("MQTT_PUBLIC_URL is needed where MQTT_URL is not mqtts://: controllers connect over TLS only"))
		}
		u.User = nil
		env.public = u.String()
	}
	return env, nil
}

// cloud is the platform's link to controllers and what they report.
type cloud struct {
	env      brokerSettings
	listen   net.Listener   // of the broker inside; nil: it is outside
	broker   *broker.Broker // nil: it is outside
	claimed  *os.File       // keeps others out of the broker's directory; nil: it is outside
	link     *link.Link
	shares   *quota.Book
	recorder *site.Recorder
	board    *panel.Board
	ca       []byte // for controllers to trust the broker by; nil: what their system trusts
	self     platform.Credential
}

// openCloud starts the broker at door, or gets ready to connect to one.
func (a *app) openCloud(ctx context.Context, d *daemon, cfg serveConfig, env brokerSettings, door net.Listener) (c *cloud, err error) {
	shares := quota.NewBook(d.log)
	c = &cloud{env: env, listen: door, shares: shares, recorder: site.NewRecorder(d.db, shares, d.log), board: panel.NewBoard()}
	at := link.Broker{URL: env.url}
	if env.ca != "" {
		if c.ca, err = os.ReadFile(env.ca); err != nil {
			return nil, cli.Usage(fmt.Errorf("read MQTT_CA_FILE: %w", err))
		}
		at.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !at.TLS.RootCAs.AppendCertsFromPEM(c.ca) {
			return nil, cli.Usage(fmt.Errorf("MQTT_CA_FILE %s holds no certificate", env.ca))
		}
	}
	if env.url == "" {
		if err := a.openBroker(d, c, cfg); err != nil {
			return nil, err
		}
		at = link.Broker{URL: "mqtt://inside", Dial: c.broker.Dial, Login: c.broker.Login}
	} else if u, err := url.Parse(env.url); err == nil && u.User != nil {
		user := u.User.Username()
		password, _ := u.User.Password()
		at.Login = func() (string, string) { return user, password }
		c.self = link.CredentialOf(user, password)
	}
	c.link = link.New(link.Config{
		Broker: at, Store: d.db, Log: d.log,
		Late: func(controller string, a wire.WidgetAction, ack wire.Ack) {
			if a.Origin != wire.OriginAPI { // the assistant looks itself
				c.board.Late(controller, a, ack)
			}
		},
		Take: func(m link.Message) {
			if m.Below == wire.UpPanel {
				if err := c.board.Take(m.Controller, m.Payload); err != nil {
					c.recorder.Unread(site.Message(m), err)
				}
			}
			c.recorder.Take(ctx, site.Message(m))
		},
	})
	return c, nil
}

func (a *app) openBroker(d *daemon, c *cloud, cfg serveConfig) (err error) {
	if c.claimed, err = a.claim(); err != nil {
		return err
	}
	conf := d.cert.TLS()
	conf.NextProtos = nil
	if cfg.certFile == "" && c.ca == nil { // nobody knows the certificate that we made
		c.ca = d.cert.PEM()
	}
	c.broker, err = broker.Start(broker.Config{
		Dir: filepath.Join(a.dataDir, "broker"), Listener: c.listen, TLS: conf, Credentials: d.db, Shares: c.shares, Log: d.log,
	})
	if err != nil {
		c.listen.Close()
		c.claimed.Close()
	}
	return err
}

// run holds the link until ctx ends. Controllers hear that the platform leaves before the broker does.
func (c *cloud) run(ctx context.Context, d *daemon) error {
	brokerCtx, endBroker := context.WithCancel(context.WithoutCancel(ctx))
	defer endBroker()
	var g errgroup.Group
	if c.broker != nil {
		defer c.claimed.Close()
		defer c.broker.Close()
		g.Go(func() error { return c.broker.Run(brokerCtx) })
		d.log.Info("serving", "mqtts", c.listen.Addr().String())
	}
	g.Go(func() error { return c.recorder.Run(ctx) })
	g.Go(func() error {
		defer endBroker()
		return c.link.Run(ctx)
	})
	if c.env.files != "" {
		g.Go(func() error { c.keepFiles(ctx, d); return nil })
	}
	return g.Wait()
}

// filesEvery is how soon a new or revoked credential is in Mosquitto's files.
const filesEvery = 2 * time.Second

// keepFiles writes Mosquitto's files whenever credentials change.
func (c *cloud) keepFiles(ctx context.Context, d *daemon) {
	last := ""
	for t := time.NewTicker(filesEvery); ; {
		all, err := d.db.Credentials(ctx)
		if err == nil {
			passwords, acl := link.MosquittoPasswords(append([]platform.Credential{c.self}, all...)), link.MosquittoACL(c.self.Username, all)
			if now := passwords + acl; now != last {
				if err = errors.Join(replaceFile(filepath.Join(c.env.files, "acl"), acl, 0o640), replaceFile(filepath.Join(c.env.files, "passwords"), passwords, 0o640)); err == nil {
					last = now
				}
			}
		}
		if err != nil && ctx.Err() == nil {
			d.log.Error("Mosquitto's files were not written; trying again", "directory", c.env.files, "why", err)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// replaceFile writes a file, all of it or nothing.
func replaceFile(path, text string, mode os.FileMode) error {
	part := path + ".part"
	if err := os.WriteFile(part, []byte(text), mode); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// enrolMost bounds the body of an enrolment.
const enrolMost = 4 << 10

// enrol turns a controller's one-time code into credentials.
func (d *daemon) enrol(c echo.Context) error {
	body, err := web.ReadBody(c, enrolMost)
	if err != nil {
		return err
	}
	var in wire.Enrolment
	if err := web.Decode(body, &in); err != nil || in.Code == "" || len(in.Code) > 100 {
		return platform.Invalid("body: want {\"code\":\"…\"}")
	}
	out, err := link.Enrol(c.Request().Context(), d.db, in.Code)
	if err != nil {
		return err
	}
	out.Broker, out.CA = d.cloud.address(c.Request()), string(d.cloud.ca)
	d.log.Info("controller enrolled", "controller", out.Controller, "peer", c.RealIP())
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusCreated, out)
}

// address is where a controller connects: the broker inside stands where the controller found us.
func (c *cloud) address(r *http.Request) string {
	if c.env.public != "" {
		return c.env.public
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	_, port, _ := net.SplitHostPort(c.listen.Addr().String())
	return "mqtts://" + net.JoinHostPort(strings.Trim(host, "[]"), port)
}
