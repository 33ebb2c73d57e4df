package console

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newRule(a *App) *cobra.Command {
	rule := cli.Group(&cobra.Command{Use: "rule", Short: "List rules, tell when they act, try them"})
	rule.AddCommand(newRuleList(a), newRulePlan(a), newRuleTry(a))
	return rule
}

// ruleTime is how times of rules are shown, in the building's time zone.
const ruleTime = "Mon 02 Jan 15:04"

func newRuleList(a *App) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List rules, when they act next and acted last",
		Long: `List rules, when they act next by clock or sun, and when they had reason to act last since
the daemon's start, in the building's time zone.`,
		Args: cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		rules, err := a.rules(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), rules)
		}
		plan, err := a.plan(c.Context(), 1)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, r := range rules {
			last := "-"
			if r.Last != nil {
				last = shownAt(&r.Last.At, plan.TimeZone)
			}
			rows = append(rows, []string{fmt.Sprint(r.ID), r.Name, yesNo(r.Enabled), shownTrigger(r.When), fmt.Sprint(len(r.Actions)), shownAt(r.Next, plan.TimeZone), last, orDash(r.Trouble)})
		}
		return cli.Listing(c, []string{"ID", "NAME", "ENABLED", "WHEN", "ACTIONS", "NEXT", "LAST", "TROUBLE"}, rows, "the site has no rules; make one on the controller's pages, or in a site file")
	}
	return c
}

func (a *App) rules(ctx context.Context) (list []api.Rule, err error) {
	err = a.local().get(ctx, "/rules", &list)
	return list, needsDaemon(err)
}

func (a *App) plan(ctx context.Context, days int) (plan api.Schedule, err error) {
	err = a.local().get(ctx, "/schedule?"+url.Values{"days": {strconv.Itoa(days)}}.Encode(), &plan)
	return plan, needsDaemon(err)
}

// shownAt is a moment in the building's time zone, UTC where that is not known.
func shownAt(at *time.Time, zone string) string {
	if at == nil {
		return "-"
	}
	in, err := time.LoadLocation(zone)
	if err != nil {
		in = time.UTC
	}
	return at.In(in).Format(ruleTime)
}

// shownTrigger says in short what a rule waits for.
func shownTrigger(t api.Trigger) string {
	text := t.Kind
	switch t.Kind {
	case "time":
		text = t.Time
	case "sunrise", "sunset":
		if t.Offset != 0 {
			text = fmt.Sprintf("%s %+d min", t.Kind, t.Offset)
		}
	case "value":
		text = fmt.Sprintf("%s of node %d", t.Quantity, t.Node)
		if t.Above != nil {
			text += fmt.Sprintf(" above %g", *t.Above)
		}
		if t.Below != nil {
			text += fmt.Sprintf(" below %g", *t.Below)
		}
		if t.ForSeconds > 0 {
			text += " for " + (time.Duration(t.ForSeconds) * time.Second).String()
		}
	}
	for _, d := range t.Days {
		text += " " + d
	}
	return text
}

func newRulePlan(a *App) *cobra.Command {
	days := 14
	c := &cobra.Command{
		Use: "plan", Short: "Tell what is due by clock and sun",
		Example: "  controllerd rule plan --days 1",
		Args:    cli.Args(cobra.NoArgs),
	}
	c.Flags().IntVar(&days, "days", days, "so many days ahead, up to 31")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		plan, err := a.plan(c.Context(), days)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), plan)
		}
		var rows [][]string
		for _, d := range plan.Due {
			rows = append(rows, []string{shownAt(&d.At, plan.TimeZone), fmt.Sprint(d.Rule), d.Name, orDash(d.Clock)})
		}
		return cli.Listing(c, []string{"AT", "RULE", "NAME", "CLOCK CHANGE"}, rows, "no rule acts by clock or sun in that time")
	}
	return c
}

func newRuleTry(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "try RULE",
		Short: "Do now what a rule does, and tell what became of it",
		Long: `Do now what a rule does, whether it is enabled or not, and tell what became of it. RULE is
an ID or a name, see 'controllerd rule list'.

Exit code: 0 everything that answers has it, 1 not.`,
		Example: "  controllerd rule try \"Corridor at night\"",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		rules, err := a.rules(c.Context())
		if err != nil {
			return err
		}
		r, err := find(rules, given[0], "rule", "controllerd rule list", func(r *api.Rule) (appliance.ID, string) { return r.ID, r.Name })
		if err != nil {
			return err
		}
		return a.carryOut(c, pathOf("rules", fmt.Sprint(r.ID), "try"), *asJSON)
	}
	return c
}
