package console

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/store"
)

// claimedError says that somebody else decides by now.
type claimedError struct{}

func (claimedError) Error() string {
	return "this controller has an owner already, and nothing of the file was taken over; its settings are in its pages"
}

// ExitCode of the process.
func (claimedError) ExitCode() int { return 3 }

func newPrepare(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "prepare FILE",
		Short: "Take over what its owner has written for a controller that nobody has claimed",
		Long: `Take over what its owner has written for a controller that nobody has claimed yet: a text file with
lines name=value, - for standard input. All of it is taken over or nothing. The appliance does it at its
start with controller.txt of its card's first partition.

  hostname              name of the box in its network; the appliance's system takes it
  clock                 chip of a clock with a battery on the board's pins: ds1307, ds3231, pcf8523 or
                        pcf8563; the appliance's system takes it
  time-zone             of the building, such as Europe/Zurich
  backup-key            public key (age1…) to which backups that leave the box are encrypted
  platform              address of a platform to enrol at once the network is there, such as
                        https://platform.example
  platform-code         the one-time code that was made there
  platform-fingerprint  SHA-256 of the platform's certificate, where the system knows no authority for it

Exit code 3: there are users already, and nothing was done.`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			in := c.InOrStdin()
			if files[0] != "-" {
				f, err := os.Open(files[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			return a.prepare(c, in)
		},
	}
}

func (a *App) prepare(c *cobra.Command, in io.Reader) error {
	card, wrong := operations.ReadCard(in)
	return a.withNewStore(c.Context(), func(s *store.Store) error {
		if len(s.Users()) > 0 {
			return claimedError{}
		}
		if wrong != nil {
			return fmt.Errorf("nothing was taken over:\n%w", wrong)
		}
		if err := card.HandOver(a.DataDir); err != nil {
			return err
		}
		out := c.OutOrStdout()
		if card.TimeZone != "" {
			err := s.UpdateSettings(c.Context(), "controllerd", func(name *string, _ *appliance.Settings, d *appliance.Division) error {
				*name = cmp.Or(*name, store.Nameless) // or the site file says nothing of the site
				d.TimeZone = card.TimeZone
				return nil
			})
			if err != nil {
				return errors.Join(err, operations.Card{}.HandOver(a.DataDir))
			}
		}
		noteAccount(c.Context(), s, "controller.prepare", "what its owner wrote before the first start")
		for _, line := range [][2]string{
			{"hostname: %s", card.Hostname}, {"clock: %s", card.Clock}, {"time-zone: %s", card.TimeZone}, {"backup-key: %s", card.BackupKey},
			{"platform: %s; the controller enrols there once it is reached", card.Enrolment.Platform},
		} {
			if line[1] != "" {
				fmt.Fprintf(out, line[0]+"\n", line[1])
			}
		}
		return nil
	})
}
