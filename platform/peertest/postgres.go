//go:build peers

package peertest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"svc.internal/controller/shelf/freeport"
)

func eachPeer(t *testing.T, test func(*testing.T, Database)) {
	t.Run("PostgreSQL", func(t *testing.T) { test(t, Database{DataDir: t.TempDir(), URL: Postgres(t)}) })
}

// keeper runs a program until this process is gone, however it ends: its standard
// input is a pipe that nobody writes to.
const keeper = `dir=$1; shift; "$@" & pid=$!; read -r _; kill -INT $pid; wait $pid; rm -rf "$dir"`

// server is the one PostgreSQL of this process.
var server = sync.OnceValues(startPostgres)

type postgres struct {
	base string // its URL, with %s for the name of a database
	// lifeline is its keeper's standard input, which must not be collected as garbage.
	lifeline io.Closer
}

var databases atomic.Int32

// Postgres makes an empty database in a server of this process and returns its URL.
func Postgres(t testing.TB) string {
	t.Helper()
	running, err := server()
	if err != nil {
		t.Fatalf("PostgreSQL from Debian is needed (scripts/install-peers.sh): %v", err)
	}
	base := running.base
	db, err := sql.Open("pgx", fmt.Sprintf(base, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := fmt.Sprintf("test%d", databases.Add(1))
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(base, name)
}

func startPostgres() (*postgres, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("no initdb below /usr/lib/postgresql")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		return nil, err
	}
	as, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freeport.Find()
	if err != nil {
		return nil, err
	}
	run := exec.Command("sh", "-c", keeper, "sh", dir, filepath.Join(bin, "postgres"), "-D", data, "-p", port,
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
	run.SysProcAttr, run.Dir = as, dir
	lifeline, err := run.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := run.Start(); err != nil {
		return nil, err
	}
	base := fmt.Sprintf("postgres://postgres@127.0.0.1:%s/%%s?sslmode=disable", port)
	return &postgres{base, lifeline}, answers(base)
}

// unprivileged lets PostgreSQL, which refuses to be root, have dir.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	as := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return as, os.Chown(dir, int(uid), int(gid))
}

// answers waits until the server does.
func answers(base string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := sql.Open("pgx", fmt.Sprintf(base, "postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	for {
		err := db.PingContext(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
