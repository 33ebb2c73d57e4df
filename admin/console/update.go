package console

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newUpdate(a *App) *cobra.Command {
	update := cli.Group(&cobra.Command{
		Use:   "update",
		Short: "Tell whether everything that answered before an update answers after it",
		Long: `Tell whether everything that answered before an update answers after it: record, update
the program or the whole system, check.`,
	})
	update.AddCommand(newUpdateRecord(a), newUpdateCheck(a))
	return update
}

// answering is what answered before an update.
type answering struct {
	Version string            `json:"version"`
	Devices []answeringDevice `json:"devices"`
}

type answeringDevice struct {
	Bus    string   `json:"bus"`
	Device string   `json:"device"`
	Nodes  []string `json:"nodes"`
}

func (d answeringDevice) String() string { return fmt.Sprintf("%s on %s %v", d.Device, d.Bus, d.Nodes) }

func newUpdateRecord(a *App) *cobra.Command {
	var within time.Duration
	c := &cobra.Command{
		Use:   "record FILE",
		Short: "Write down which devices answer the running daemon",
		Long: `Write down which devices answer the running daemon. Shortly after a start it waits until
each device has been asked.`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), within)
			defer cancel()
			now, err := a.answeringSettled(ctx)
			if err != nil {
				return err
			}
			if files[0] == "-" {
				return cli.PrintJSON(c.OutOrStdout(), now)
			}
			f, err := os.Create(files[0])
			if err != nil {
				return fmt.Errorf("write down what answers: %w", err)
			}
			return errors.Join(cli.PrintJSON(f, now), f.Close())
		},
	}
	c.Flags().DurationVar(&within, "within", time.Minute, "how long to wait at most for devices that have not been asked yet")
	return c
}

// answeringSettled is what answers once every device has answered or was asked in vain, or what answers when ctx ends.
func (a *App) answeringSettled(ctx context.Context) (answering, error) {
	for {
		now, settled, err := a.answeringNow(context.WithoutCancel(ctx))
		if err != nil || settled {
			return now, err
		}
		select {
		case <-ctx.Done():
			return now, nil
		case <-time.After(time.Second):
		}
	}
}

func (a *App) answeringNow(ctx context.Context) (now answering, settled bool, err error) {
	buses, err := a.local().buses(ctx)
	if err != nil {
		return answering{}, false, err
	}
	names, err := a.nodeNames(ctx)
	if err != nil {
		return answering{}, false, err
	}
	now, settled = answering{Version: a.Version, Devices: []answeringDevice{}}, true
	for _, b := range buses {
		down := b.Disabled || !b.Up && b.Fault != ""
		settled = settled && (down || b.LookedAt != nil)
		for _, d := range b.Devices {
			if answers(d) {
				now.Devices = append(now.Devices, deviceOf(b, d, names))
			} else if d.Why == "" { // nor was it asked in vain
				settled = settled && (down || len(d.Nodes) == 0)
			}
		}
	}
	return now, settled, nil
}

func deviceOf(b api.BusDetail, d api.Device, names map[appliance.ID]string) answeringDevice {
	out := answeringDevice{Bus: b.Name, Device: d.Device}
	for _, id := range d.Nodes {
		out.Nodes = append(out.Nodes, fmt.Sprintf("%d %s", id, names[id]))
	}
	return out
}

// answers reports whether a device is online and has answered this daemon at least once: after a start, "online" may still
// be what was known before.
func answers(d api.Device) bool {
	s := d.Stats
	return d.Online && s.Exchanges > s.Silent+s.Damaged+s.Busy+s.Down+s.Expired+s.Preempted
}

func newUpdateCheck(a *App) *cobra.Command {
	var within time.Duration
	var url string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Wait until the API serves and every device in FILE answers",
		Long: `Wait until the API serves and every device answers that "update record" wrote to
FILE. Exits with 1 and names who is missing if that has not come true in time. An empty
FILE such as /dev/null asks for the API only. A device that a changed site no longer
has is missing, too.`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			before, err := readAnswering(files[0])
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), within)
			defer cancel()
			watched := cli.IsTerminal(c.ErrOrStderr()) // the health gate's report tells the end only
			tell := func(err error) {
				if watched {
					fmt.Fprintf(c.ErrOrStderr(), "waiting, for %v at most: %v\n", within, err)
				}
			}
			if err := a.awaitHealth(ctx, url, before, tell); err != nil {
				return fmt.Errorf("not healthy within %v: %w", within, err)
			}
			fmt.Fprintf(c.OutOrStdout(), "the API serves; %d of %d devices answer that answered in version %s\n", len(before.Devices), len(before.Devices), before.Version)
			return nil
		},
	}
	c.Flags().DurationVar(&within, "within", 3*time.Minute, "how long to wait at most")
	c.Flags().StringVar(&url, "url", "https://localhost", "where the daemon serves")
	return c
}

func readAnswering(path string) (answering, error) {
	out := answering{Version: "before"}
	f, err := os.Open(path)
	if err != nil {
		return out, fmt.Errorf("read what answered before: %w", err)
	}
	defer f.Close()
	if err := json.NewDecoder(f).Decode(&out); err != nil && !errors.Is(err, io.EOF) {
		return out, fmt.Errorf("read what answered before from %s: %w", path, err)
	}
	return out, nil
}

// awaitHealth returns nil once everything is as before, or what is not when ctx ends. tell hears of it whenever that changes.
func (a *App) awaitHealth(ctx context.Context, url string, before answering, tell func(error)) error {
	for told := ""; ; {
		err := a.health(ctx, url, before)
		if err == nil {
			return nil
		}
		if told != err.Error() {
			told = err.Error()
			tell(err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

func (a *App) health(ctx context.Context, url string, before answering) error {
	// What hangs is not healthy, but is told like everything else, at the end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := a.apiServes(ctx, url); err != nil {
		return err
	}
	buses, err := a.local().buses(ctx)
	if err != nil {
		return err
	}
	now := map[[2]string]bool{}
	for _, b := range buses {
		for _, d := range b.Devices {
			now[[2]string{b.Name, d.Device}] = answers(d)
		}
	}
	var missing []error
	for _, d := range before.Devices {
		if !now[[2]string{d.Bus, d.Device}] {
			missing = append(missing, fmt.Errorf("%s does not answer", d))
		}
	}
	if len(missing) > 10 {
		missing = append(missing[:10], fmt.Errorf("and %d more", len(missing)-10))
	}
	return errors.Join(missing...)
}

// apiServes asks the public API for something; that it wants a login is the answer.
func (a *App) apiServes(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/svc/api/getClusters", nil)
	if err != nil {
		return cli.Usage(fmt.Errorf("--url: %w", err))
	}
	// The certificate proves nothing here: it is this machine's own port, and the clock may be wrong.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return fmt.Errorf("the API does not serve: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("the API does not serve: %s answered %s", url, res.Status)
	}
	return nil
}
