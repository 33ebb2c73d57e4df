package broker

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// Bounds of what the broker keeps: retained states and what receivers have not acknowledged yet.
const (
	memoryMost = 64 << 20
	diskMost   = 2 << 30
	startMost  = 20 * time.Second
)

// Credentials knows who may connect. Unknown users are [platform.ErrNotFound].
type Credentials interface {
	Credential(ctx context.Context, username string) (platform.Credential, error)
	Credentials(ctx context.Context) ([]platform.Credential, error)
}

// Config of a broker.
type Config struct {
	// Dir holds what the broker keeps.
	Dir string
	// Listener is where controllers connect.
	Listener net.Listener
	// TLS of the listener; nil only in tests.
	TLS         *tls.Config
	Credentials Credentials
	Shares      Shares
	Log         *slog.Logger
}

// Broker is a running broker.
type Broker struct {
	cfg    Config
	server *server.Server
	inside string // address of nats-server, on loopback
	secret [32]byte
	door   door
}

// Start starts a broker. Close it when done.
func Start(cfg Config) (*Broker, error) {
	b := &Broker{cfg: cfg}
	rand.Read(b.secret[:]) // never fails, see crypto/rand
	opts := &server.Options{
		ServerName: "platformd", DontListen: true, NoSigs: true,
		JetStream: true, StoreDir: filepath.Clean(cfg.Dir), JetStreamMaxMemory: memoryMost, JetStreamMaxStore: diskMost,
		MaxPayload:                 2 * wire.MaxMessage, // headers of its own come on top
		CustomClientAuthentication: &insider{b.secret},
		MQTT:                       server.MQTTOpts{Host: "127.0.0.1", Port: -1},
	}
	var err error
	if b.server, err = server.NewServer(opts); err != nil {
		return nil, fmt.Errorf("start the broker in %s: %w", cfg.Dir, err)
	}
	b.server.SetLoggerV2(logger{cfg.Log}, false, false, false)
	b.server.Start()
	if !b.server.ReadyForConnections(startMost) || opts.MQTT.Port <= 0 {
		b.server.Shutdown()
		return nil, fmt.Errorf("start the broker in %s: it is not ready after %v; its log says why", cfg.Dir, startMost)
	}
	b.inside = net.JoinHostPort("127.0.0.1", fmt.Sprint(opts.MQTT.Port))
	b.door = door{broker: b, held: map[*guest]struct{}{}, waiting: knocking{networks: map[netip.Prefix]int{}}}
	return b, nil
}

// revokedEvery is how soon a revoked credential ends the connections that were made with it.
const revokedEvery = 2 * time.Second

// Run lets controllers in until ctx ends.
func (b *Broker) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() {
		<-ctx.Done()
		b.cfg.Listener.Close()
		b.door.empty()
	})
	wg.Go(func() {
		t := time.NewTicker(revokedEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				b.dropRevoked(ctx)
			}
		}
	})
	for {
		conn, err := b.cfg.Listener.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept controllers: %w", err)
		case err != nil: // too many open files, perhaps: those who are in go on
			b.cfg.Log.Warn("a connection to the broker was not accepted", "why", err)
			pause := time.NewTimer(100 * time.Millisecond)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			pause.Stop()
		default:
			wg.Go(func() { b.door.open(ctx, conn) })
		}
	}
}

// Close ends the broker.
func (b *Broker) Close() {
	b.door.empty()
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

// Dial opens a connection for the platform itself, and Login is what it says there.
func (b *Broker) Dial() (net.Conn, error) { return net.DialTimeout("tcp", b.inside, startMost) }

// Login of the platform on a connection from [Broker.Dial].
func (b *Broker) Login() (username, password string) {
	who := badge{role: rolePlatform}
	return who.name(), who.proof(b.secret)
}

// dropRevoked ends connections whose credential is not good any more.
func (b *Broker) dropRevoked(ctx context.Context) {
	all, err := b.cfg.Credentials.Credentials(ctx)
	if err != nil {
		if ctx.Err() == nil {
			b.cfg.Log.Warn("revoked credentials could not be looked for; trying again", "why", err)
		}
		return
	}
	good := make(map[string][32]byte, len(all))
	for _, c := range all {
		good[c.Username] = c.Hash
	}
	b.door.drop(func(c platform.Credential) bool { hash, ok := good[c.Username]; return !ok || hash != c.Hash })
}

// logger passes on what nats-server has to say. What it says of clients that come and go is for debugging.
type logger struct{ log *slog.Logger }

func (l logger) Noticef(format string, v ...any) { l.log.Debug("broker: " + fmt.Sprintf(format, v...)) }
func (l logger) Warnf(format string, v ...any)   { l.log.Warn("broker: " + fmt.Sprintf(format, v...)) }
func (l logger) Fatalf(format string, v ...any)  { l.log.Error("broker: " + fmt.Sprintf(format, v...)) }
func (l logger) Errorf(format string, v ...any)  { l.log.Warn("broker: " + fmt.Sprintf(format, v...)) }
func (l logger) Debugf(string, ...any)           {}
func (l logger) Tracef(string, ...any)           {}
