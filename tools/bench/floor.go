package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The floor is the least that a Go program can do for the same purpose: net/http
// with TLS, a handler, nothing else. It runs as a process of its own, like the
// daemon.

// floor is a running one.
type floor struct {
	*process
	address string
	pem     []byte
}

// floor starts one: with a body it answers GETs with that, with a peer it hands
// the dimLevel of POSTs on to register 0 of unit 1 there.
func (r *run) floor(ctx context.Context, body []byte, peer string) (*floor, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(r.dir, "floor-body")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return nil, err
	}
	f := &floor{}
	f.process, err = r.start(ctx, true, self, "floor", "-body", file, "-peer", peer)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(f.out)
	if f.address, err = in.ReadString('\n'); err != nil {
		f.stop()
		return nil, fmt.Errorf("start the floor: %w", err)
	}
	f.address = strings.TrimSpace(f.address)
	for !strings.Contains(string(f.pem), "-----END") {
		line, err := in.ReadString('\n')
		if err != nil {
			f.stop()
			return nil, fmt.Errorf("certificate of the floor: %w", err)
		}
		f.pem = append(f.pem, line...)
	}
	return f, nil
}

// serveFloor is the process.
func serveFloor(args []string) error {
	flags := flag.NewFlagSet("floor", flag.ContinueOnError)
	file := flags.String("body", "", "`file` to answer GETs with")
	peer := flags.String("peer", "", "`address` of the Modbus server to hand POSTs on to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	body, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	cert, certPEM, err := selfSigned()
	if err != nil {
		return err
	}
	handler := answerWith(body)
	if *peer != "" {
		if handler, err = writeTo(*peer); err != nil {
			return err
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s", ln.Addr(), certPEM)
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert},
	}}
	return srv.ServeTLS(ln, "", "")
}

func answerWith(body []byte) http.Handler {
	length := strconv.Itoa(len(body))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		_, _ = w.Write(body) // a client that has left is no error of ours
	})
}

// writeTo writes one register per request over a connection that is kept, and
// waits for the answer.
func writeTo(peer string) (http.Handler, error) {
	conn, err := net.Dial("tcp", peer)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var transaction uint16
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Level uint16 `json:"dimLevel"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		transaction++
		if err := writeRegister(conn, transaction, in.Level); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{\"status\":1}\n")
	}), nil
}

// writeRegister is Modbus TCP, function 6, register 0 of unit 1.
func writeRegister(conn net.Conn, transaction, value uint16) error {
	frame := []byte{0, 0, 0, 0, 0, 6, 1, 6, 0, 0, 0, 0}
	binary.BigEndian.PutUint16(frame[0:], transaction)
	binary.BigEndian.PutUint16(frame[10:], value)
	if _, err := conn.Write(frame); err != nil {
		return err
	}
	answer := make([]byte, len(frame))
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	if string(answer) != string(frame) {
		return errors.New("the answer is not that of the write")
	}
	return nil
}

func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
