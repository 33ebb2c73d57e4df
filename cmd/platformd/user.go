package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/login"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/cli"
)

func newUser(a *app) *cobra.Command {
	user := cli.Group(&cobra.Command{Use: "user", Short: "Manage who may log in"})
	user.AddCommand(newUserAdd(a), newUserList(a), newUserPasswd(a),
		newUserChange(a, "disable", "Switch a user off: no login, token or key of theirs works any more", "disabled",
			func(ctx context.Context, s *store.Store, name string) error { return s.SetDisabled(ctx, name, true) }),
		newUserChange(a, "enable", "Switch a disabled user on again; their keys work again", "enabled",
			func(ctx context.Context, s *store.Store, name string) error { return s.SetDisabled(ctx, name, false) }),
		newUserChange(a, "remove", "Remove a user with all keys and sessions", "removed",
			func(ctx context.Context, s *store.Store, name string) error { return s.RemoveUser(ctx, name) }))
	return user
}

func newUserAdd(a *app) *cobra.Command {
	var roleName string
	var stdin bool
	c := &cobra.Command{
		Use:   "add NAME [--role ROLE]",
		Short: "Add a user",
		Long: `Add a user. The password is asked for twice, or read as one line from standard
input with --password-stdin. The user may log in at once, on every instance.`,
		Example: "  platformd user add ada --role admin\n  pass show platform/ada | platformd user add ada --password-stdin",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			role, err := platform.ParseRole(roleName)
			if err != nil {
				return cli.Usage(err)
			}
			password, err := newPassword(c, stdin)
			if err != nil {
				return err
			}
			return a.withNewStore(c.Context(), func(s *store.Store) error {
				u, err := s.AddUser(c.Context(), names[0], role, password)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "added %s with role %s\n", u.Name, u.Role)
				return nil
			})
		},
	}
	c.Flags().StringVar(&roleName, "role", string(platform.RoleUser), "`role`: user or admin")
	c.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input")
	return c
}

func newUserList(a *app) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List users", Args: cli.Args(cobra.NoArgs)}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c.Context(), func(s *store.Store) error {
			users, err := s.Users(c.Context())
			if err != nil {
				return err
			}
			type row struct {
				Name      string  `json:"name"`
				Role      string  `json:"role"`
				Disabled  bool    `json:"disabled"`
				Issuer    string  `json:"issuer,omitempty"`
				CreatedAt *string `json:"createdAt"`
			}
			out, rows := []row{}, [][]string{}
			for _, u := range users {
				out = append(out, row{u.Name, string(u.Role), u.Disabled, u.Issuer, cli.Stamp(u.CreatedAt)})
				state := "enabled"
				if u.Disabled {
					state = "disabled"
				}
				rows = append(rows, []string{u.Name, string(u.Role), state, cli.When(u.CreatedAt)})
			}
			if *asJSON {
				return cli.PrintJSON(c.OutOrStdout(), out)
			}
			return cli.Listing(c, []string{"NAME", "ROLE", "STATE", "CREATED"}, rows, "there are no users yet; add one: platformd user add NAME --role admin")
		})
	}
	return c
}

func newUserPasswd(a *app) *cobra.Command {
	var stdin bool
	c := newUserChange(a, "passwd", "Set a user's password; ends all their sessions", "password set, all sessions ended", nil)
	c.RunE = func(c *cobra.Command, names []string) error {
		password, err := newPassword(c, stdin)
		if err != nil {
			return err
		}
		return a.changeUser(c, "password set, all sessions ended", func(ctx context.Context, s *store.Store) error {
			return s.SetPassword(ctx, names[0], password)
		})
	}
	c.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input")
	return c
}

// newUserChange makes a command with the name of a user and nothing else.
func newUserChange(a *app, verb, short, done string, change func(context.Context, *store.Store, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " NAME",
		Short: short,
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			return a.changeUser(c, done, func(ctx context.Context, s *store.Store) error { return change(ctx, s, names[0]) })
		},
	}
}

func (a *app) changeUser(c *cobra.Command, done string, change func(context.Context, *store.Store) error) error {
	return a.withStore(c.Context(), func(s *store.Store) error {
		if err := change(c.Context(), s); err != nil {
			return listAdvice(err, "platformd user list")
		}
		fmt.Fprintln(c.OutOrStdout(), done)
		return nil
	})
}

// newPassword asks for a password and returns its stored form.
func newPassword(c *cobra.Command, stdin bool) (string, error) {
	password, err := cli.ReadPassword(c, stdin)
	if err != nil {
		return "", err
	}
	return login.HashPassword(password)
}
