package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/cli"
)

func newController(a *app) *cobra.Command {
	c := cli.Group(&cobra.Command{Use: "controller", Short: "Manage the controllers that report to this platform"})
	c.AddCommand(newControllerAdd(a), newControllerCode(a), newControllerList(a), newControllerRevoke(a), newControllerPeer(a))
	return c
}

// codeOut is a one-time code for a script.
type codeOut struct {
	Controller string    `json:"controllerId"`
	Code       string    `json:"code"`
	ValidUntil time.Time `json:"validUntil"`
}

// print tells people what to do with a code.
func (o codeOut) print(c *cobra.Command, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(c.OutOrStdout(), o)
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), `Controller %s may enrol once, until %s, with the code

  %s

On the controller: controllerd cloud enroll --platform https://THIS-PLATFORM --code %s
`, o.Controller, cli.When(o.ValidUntil), o.Code, o.Code)
	return err
}

func newControllerAdd(a *app) *cobra.Command {
	var id string
	c := &cobra.Command{
		Use:     "add NAME [--id ID]",
		Short:   "Add a controller and make the one-time code with which it enrols",
		Example: "  platformd controller add \"Main street 5\"",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	c.Flags().StringVar(&id, "id", "", "`ID` of the controller, part of its MQTT topics; made from the name by default")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		label := strings.TrimSpace(given[0])
		if label == "" || len(label) > 200 {
			return cli.Usage(errors.New("NAME: want 1 to 200 characters"))
		}
		if id == "" {
			id = link.NewControllerID(label)
		}
		if err := wire.CheckControllerID(id); err != nil {
			return cli.Usage(err)
		}
		code, until := link.NewCode(), time.Now().Add(link.CodeLife)
		return a.withNewStore(c.Context(), func(s *store.Store) error {
			if err := s.AddController(c.Context(), id, label, link.HashCode(code), until); err != nil {
				return err
			}
			return codeOut{id, code, until}.print(c, *asJSON)
		})
	}
	return c
}

func newControllerCode(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "code ID",
		Short: "Make another one-time code for a controller, after a revocation or for a new appliance in its place",
		Args:  cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		code, until := link.NewCode(), time.Now().Add(link.CodeLife)
		return a.withStore(c.Context(), func(s *store.Store) error {
			if err := s.RenewCode(c.Context(), given[0], link.HashCode(code), until); err != nil {
				return err
			}
			return codeOut{given[0], code, until}.print(c, *asJSON)
		})
	}
	return c
}

func newControllerList(a *app) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List controllers and how they are", Args: cli.Args(cobra.NoArgs)}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c.Context(), func(s *store.Store) error {
			all, err := s.Enrolments(c.Context())
			if err != nil {
				return err
			}
			if *asJSON {
				type row struct {
					ID         string  `json:"id"`
					Name       string  `json:"name"`
					Firmware   string  `json:"firmware"`
					State      string  `json:"state"`
					LastSeen   *string `json:"lastSeen"`
					EnrolledAt *string `json:"enrolledAt"`
				}
				rows := []row{}
				for _, e := range all {
					rows = append(rows, row{e.ID, e.Name, e.Firmware, stateOf(e), cli.Stamp(e.LastSeen), cli.Stamp(e.EnrolledAt)})
				}
				return cli.PrintJSON(c.OutOrStdout(), rows)
			}
			var rows [][]string
			for _, e := range all {
				rows = append(rows, []string{e.ID, e.Name, stateOf(e), cli.When(e.LastSeen), e.Firmware})
			}
			return cli.Listing(c, []string{"ID", "NAME", "STATE", "LAST HEARD OF", "FIRMWARE"}, rows, "no controllers; add one with: platformd controller add NAME")
		})
	}
	return c
}

func stateOf(e platform.Enrolment) string {
	switch {
	case e.Revoked:
		return "revoked"
	case e.EnrolledAt.IsZero() && time.Now().After(e.CodeUntil):
		return "code expired"
	case e.EnrolledAt.IsZero():
		return "not enrolled yet"
	case platform.Reachable(e.Controller, time.Now()):
		return "online"
	}
	return "offline"
}

func newControllerRevoke(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Take all credentials of a controller away; its connection ends within seconds",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, given []string) error {
			return a.withStore(c.Context(), func(s *store.Store) error {
				if err := s.RevokeController(c.Context(), given[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(c.OutOrStdout(), "revoked %s\n", given[0])
				return err
			})
		},
	}
}

func newControllerPeer(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "peer ID NAME",
		Short: "Make an MQTT credential that may act as the platform towards one controller",
		Long: `Make a credential for a program of a third party: it may read everything of one
controller's subtree and send to it what the platform may (docs/mqtt.md). NAME becomes
part of its user name; the same NAME again replaces the password. 'controller revoke'
ends it together with the controller's own.`,
		Args: cli.Args(cobra.ExactArgs(2)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		if err := wire.CheckControllerID(given[1]); err != nil {
			return cli.Usage(errors.New("NAME: want 1 to 64 of a-z, 0-9 and -"))
		}
		user := "peer." + given[0] + "." + given[1]
		cred, password := link.NewCredential(user, given[0], true)
		return a.withStore(c.Context(), func(s *store.Store) error {
			if err := s.PutCredential(c.Context(), cred); err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(c.OutOrStdout(), map[string]string{"controllerId": given[0], "username": user, "password": password})
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "user name  %s\npassword   %s   (shown this once)\n", user, password)
			return err
		})
	}
	return c
}
