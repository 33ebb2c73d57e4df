package console

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/store"
)

func newKey(a *App) *cobra.Command {
	key := cli.Group(&cobra.Command{Use: "key", Short: "Manage API keys of programs"})
	key.AddCommand(newKeyAdd(a), newKeyList(a), newKeyRemove(a))
	return key
}

func newKeyAdd(a *App) *cobra.Command {
	var write bool
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Make an API key; it is printed once and cannot be shown again",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			return a.changeAccounts(c.Context(), a.withNewStore, func(s *store.Store) error {
				secret, _, err := s.AddKey(c.Context(), names[0], write)
				if err != nil {
					return err
				}
				noteAccount(c.Context(), s, "key.create", "key "+names[0])
				fmt.Fprintln(c.OutOrStdout(), secret)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&write, "write", false, "the key may command lights and shades, not only read")
	return c
}

func newKeyList(a *App) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List API keys", Args: cli.Args(cobra.NoArgs)}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c.Context(), func(s *store.Store) error {
			type row struct {
				Name      string  `json:"name"`
				Prefix    string  `json:"prefix"`
				Write     bool    `json:"write"`
				CreatedAt *string `json:"createdAt"`
				LastUsed  *string `json:"lastUsed"` // null: never
			}
			out, rows := []row{}, [][]string{}
			for _, k := range s.Keys() {
				scope := "read"
				if k.Write {
					scope = "read+write"
				}
				out = append(out, row{k.Name, k.Prefix, k.Write, cli.Stamp(k.CreatedAt), cli.Stamp(k.LastUsed)})
				rows = append(rows, []string{k.Name, "ctl_" + k.Prefix + "…", scope, cli.When(k.CreatedAt), cli.When(k.LastUsed)})
			}
			if *asJSON {
				return cli.PrintJSON(c.OutOrStdout(), out)
			}
			return cli.Listing(c, []string{"NAME", "KEY", "SCOPE", "CREATED", "LAST USED"}, rows, "there are no API keys yet; make one: controllerd key add NAME")
		})
	}
	return c
}

func newKeyRemove(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove an API key; it stops working at once",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, names []string) error {
			return a.changeAccounts(c.Context(), a.withStore, func(s *store.Store) error {
				if err := s.RemoveKey(c.Context(), names[0]); err != nil {
					return listAdvice(err, "controllerd key list")
				}
				noteAccount(c.Context(), s, "key.remove", "key "+names[0])
				fmt.Fprintln(c.OutOrStdout(), "removed")
				return nil
			})
		},
	}
}
