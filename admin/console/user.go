package console

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/store"
)

func newUser(a *App) *cobra.Command {
	user := cli.Group(&cobra.Command{Use: "user", Short: "Manage who may log in"})
	user.AddCommand(newUserAdd(a), newUserList(a), newUserPasswd(a), newUserRole(a), newUserRemove(a))
	return user
}

func roleNames() string {
	var names []string
	for _, r := range account.Roles() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

func newUserAdd(a *App) *cobra.Command {
	var role string
	var stdin bool
	c := &cobra.Command{
		Use:   "add NAME --role ROLE",
		Short: "Add a user",
		Long: `Add a user. The password is asked for twice, or read as one line from standard
input with --password-stdin. A running daemon knows the user when this returns.`,
		Example: "  controllerd user add building-os --role api_service\n  pass show bms | controllerd user add building-os --role api_service --password-stdin",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			password, err := cli.ReadPassword(c, stdin)
			if err != nil {
				return err
			}
			return a.changeAccounts(c.Context(), a.withNewStore, func(s *store.Store) error {
				u, err := s.AddUser(c.Context(), names[0], password, account.Role(role))
				if err != nil {
					return err
				}
				note(c.Context(), s, account.Audit{What: "user.create", Subject: "user " + u.Name, Detail: fmt.Sprintf(`{"role":%q}`, u.Role), Accounts: true})
				fmt.Fprintf(c.OutOrStdout(), "added %s with role %s\n", u.Name, u.Role)
				return api.NewClaim(a.DataDir).Close()
			})
		},
	}
	c.Flags().StringVar(&role, "role", "", "`role`: "+roleNames())
	c.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input")
	c.MarkFlagRequired("role")
	return c
}

func newUserList(a *App) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List users", Args: cli.Args(cobra.NoArgs)}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c.Context(), func(s *store.Store) error {
			type row struct {
				Name      string  `json:"name"`
				Role      string  `json:"role"`
				CreatedAt *string `json:"createdAt"`
			}
			out, rows := []row{}, [][]string{}
			for _, u := range s.Users() {
				out = append(out, row{u.Name, string(u.Role), cli.Stamp(u.CreatedAt)})
				rows = append(rows, []string{u.Name, string(u.Role), cli.When(u.CreatedAt)})
			}
			if *asJSON {
				return cli.PrintJSON(c.OutOrStdout(), out)
			}
			return cli.Listing(c, []string{"NAME", "ROLE", "CREATED"}, rows, "there are no users yet; add one: controllerd user add NAME --role ROLE")
		})
	}
	return c
}

func newUserPasswd(a *App) *cobra.Command {
	var stdin bool
	c := &cobra.Command{
		Use:   "passwd NAME",
		Short: "Set a user's password; ends all their sessions",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			password, err := cli.ReadPassword(c, stdin)
			if err != nil {
				return err
			}
			return a.changeUser(c, "user.password", names[0], "password set, all sessions ended", func(ctx context.Context, s *store.Store) error {
				return s.SetPassword(ctx, names[0], password)
			})
		},
	}
	c.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from standard input")
	return c
}

func newUserRole(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "role NAME ROLE",
		Short: "Change what a user may do (" + roleNames() + ")",
		Args:  cli.Args(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, given []string) error {
			return a.changeUser(c, "user.role", given[0], "role set", func(ctx context.Context, s *store.Store) error {
				return s.SetRole(ctx, given[0], account.Role(given[1]))
			})
		},
	}
}

func newUserRemove(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a user; ends all their sessions",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			return a.changeUser(c, "user.remove", names[0], "removed", func(ctx context.Context, s *store.Store) error {
				return s.RemoveUser(ctx, names[0])
			})
		},
	}
}

func (a *App) changeUser(c *cobra.Command, what, name, done string, change func(context.Context, *store.Store) error) error {
	return a.changeAccounts(c.Context(), a.withStore, func(s *store.Store) error {
		if err := change(c.Context(), s); err != nil {
			return listAdvice(err, "controllerd user list")
		}
		noteAccount(c.Context(), s, what, "user "+name)
		fmt.Fprintln(c.OutOrStdout(), done)
		return nil
	})
}
