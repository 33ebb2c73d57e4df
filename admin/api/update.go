package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/network"
)

const (
	// bundleMost bounds an update: both systems of a card have 256 MB.
	bundleMost = 256 << 20
	// bundleTime is how long one may take to arrive.
	bundleTime = 15 * time.Minute
	statusMost = 16 << 10
)

// System is the one below the daemon, which installs its updates itself: it alone may
// write to where systems are, and it alone judges signatures.
type System struct {
	// Inbox is the file that it takes bundles from. Empty: it takes none from here.
	Inbox string
	// StatusFile is the file in which it says how it is: its version in the first line, a
	// word of UpdateStatus in the second, then what there is to say.
	StatusFile string
	// FetchLocal lets updates be fetched from loopback and link-local addresses, too.
	FetchLocal bool
	// Network is where it takes the network from that the box is to be in.
	Network network.Box
}

// UpdateStatus tells what runs, and how the last update ended.
type UpdateStatus struct {
	Version    string `json:"version" doc:"Of the daemon."`
	System     string `json:"system,omitempty" doc:"Version of the whole system, where it is updated as one."`
	Status     string `json:"status" enum:"none installed,under way,updated,undone,refused"`
	Report     string `json:"report,omitempty" doc:"What there is to say of it."`
	CanInstall bool   `json:"canInstall" doc:"Whether POST takes a bundle: true on an appliance."`
}

var updateStates = []string{"none installed", "under way", "updated", "undone", "refused"}

func (a *API) updateStatus() UpdateStatus {
	out := UpdateStatus{Version: a.Version, Status: updateStates[0], CanInstall: a.System.Inbox != ""}
	if !out.CanInstall {
		return out
	}
	if _, err := os.Stat(a.System.Inbox); err == nil {
		out.Status = "under way"
		return out
	}
	f, err := os.Open(a.System.StatusFile)
	if err != nil {
		return out // it has not said anything yet
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, statusMost))
	if err != nil {
		return out
	}
	lines := strings.SplitN(string(text), "\n", 3)
	out.System = lines[0]
	if len(lines) == 3 && slices.Contains(updateStates, lines[1]) {
		out.Status, out.Report = lines[1], strings.TrimSpace(lines[2])
	}
	return out
}

func (a *API) update(c echo.Context) error { return answer(c, http.StatusOK, a.updateStatus()) }

// install leaves a bundle for the system to take. What is wrong with it, the system
// says: GET tells.
func (a *API) install(c echo.Context) error {
	if err := a.takesUpdate(c); err != nil {
		return err
	}
	return a.handOver(c, c.Request().Body)
}

// UpdateSource is where a bundle is fetched from.
type UpdateSource struct {
	URL string `json:"url" doc:"https:// or http://, without a password; what counts is the bundle's signature."`
}

// fetch does the same with a bundle from an address, when a person says so: a controller
// never looks for updates by itself.
func (a *API) fetch(c echo.Context) error {
	var from UpdateSource
	if err := read(c, &from); err != nil {
		return err
	}
	at, err := url.Parse(from.URL)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.User != nil {
		return meaningless("/url", "want an address such as https://updates.example/update.raucb, without a password")
	}
	if err := a.takesUpdate(c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), bundleTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return meaningless("/url", err.Error())
	}
	resp, err := fetcher(a.System.FetchLocal).Do(req)
	if err != nil {
		return &refusal{status: http.StatusBadGateway, detail: fmt.Sprintf("the update could not be fetched: %v", err), cause: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refuse(http.StatusBadGateway, fmt.Sprintf("the update could not be fetched: %s answered %s", at.Host, resp.Status))
	}
	return a.handOver(c, resp.Body)
}

// takesUpdate returns why no bundle is taken now, and gives one the time to arrive.
func (a *API) takesUpdate(c echo.Context) error {
	switch now := a.updateStatus(); {
	case !now.CanInstall:
		return refuse(http.StatusConflict, "this controller's system is updated by others: see its package manager")
	case now.Status == "under way":
		return refuse(http.StatusConflict, "an update is under way")
	}
	control := http.NewResponseController(c.Response().Writer)
	deadline := time.Now().Add(bundleTime)
	_, _ = control.SetReadDeadline(deadline), control.SetWriteDeadline(deadline)
	return nil
}

func (a *API) handOver(c echo.Context, bundle io.ReadCloser) error {
	if err := a.receive(http.MaxBytesReader(c.Response().Writer, bundle, bundleMost)); err != nil {
		return err
	}
	a.auditAccount(c, "update.install", "update", nil)
	return answer(c, http.StatusAccepted, a.updateStatus())
}

// squashfs is how every bundle begins.
var squashfs = []byte("hsqs")

func (a *API) receive(body io.Reader) error {
	if !a.receiving.TryLock() {
		return refuse(http.StatusConflict, "another update is being received; try again when it is there")
	}
	defer a.receiving.Unlock()
	var begin [4]byte
	if _, err := io.ReadFull(body, begin[:]); err != nil || !bytes.Equal(begin[:], squashfs) {
		return &refusal{status: http.StatusUnprocessableEntity, detail: "this is no update bundle; want the file update.raucb", cause: err}
	}
	if err := os.MkdirAll(filepath.Dir(a.System.Inbox), 0o700); err != nil {
		return fmt.Errorf("take an update: %w", err)
	}
	// What a power cut left of an earlier one would stay for ever.
	left, err := filepath.Glob(filepath.Join(filepath.Dir(a.System.Inbox), "part-*"))
	if err != nil {
		return fmt.Errorf("take an update: %w", err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("take an update: %w", err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(a.System.Inbox), "part-*")
	if err != nil {
		return fmt.Errorf("take an update: %w", err)
	}
	defer os.Remove(f.Name()) // fails once it is in its place
	_, err = io.Copy(f, io.MultiReader(bytes.NewReader(begin[:]), body))
	var ours *fs.PathError
	switch err = errors.Join(err, f.Sync(), f.Close()); {
	case errors.As(err, &ours):
		return fmt.Errorf("take an update: %w", err)
	case err != nil:
		return unread(err)
	}
	if err := os.Rename(f.Name(), a.System.Inbox); err != nil {
		return fmt.Errorf("take an update: %w", err)
	}
	return nil
}
