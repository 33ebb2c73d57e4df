package console

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/link"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/trust"
	"svc.internal/controller/store"
)

func newCloud(a *App) *cobra.Command {
	c := cli.Group(&cobra.Command{Use: "cloud", Short: "Link this controller to a platform"})
	c.AddCommand(newCloudEnroll(a), newCloudStatus(a), newCloudLeave(a))
	return c
}

func newCloudEnroll(a *App) *cobra.Command {
	var platform, code, caFile, fingerprint string
	c := &cobra.Command{
		Use:   "enroll --platform URL --code CODE [--ca-file FILE | --fingerprint SHA256]",
		Short: "Enrol this controller at a platform with a one-time code",
		Long: `Enrol this controller at a platform with the one-time code that was made there
('platformd controller add NAME'). The code is sent only to a platform whose certificate
is trusted: by the system, by --ca-file, or by its fingerprint. A daemon that runs
connects within seconds. The controller works on without the platform at any time.`,
		Example: "  controllerd cloud enroll --platform https://platform.example --code ABCDE-FGHIJ-KLMNO-PQRST",
		Args:    cli.Args(cobra.NoArgs),
	}
	f := c.Flags()
	f.StringVar(&platform, "platform", "", "`address` of the platform, such as https://platform.example")
	f.StringVar(&code, "code", "", "one-time `code`")
	f.StringVar(&caFile, "ca-file", "", "PEM `file` with the certificate to trust the platform by")
	f.StringVar(&fingerprint, "fingerprint", "", "`SHA256` fingerprint of the platform's certificate")
	c.MarkFlagRequired("platform")
	c.MarkFlagRequired("code")
	c.MarkFlagsMutuallyExclusive("ca-file", "fingerprint")
	c.RunE = func(c *cobra.Command, _ []string) error {
		by := trust.Trust{Fingerprint: fingerprint}
		if caFile != "" {
			var err error
			if by.CA, err = os.ReadFile(caFile); err != nil {
				return fmt.Errorf("read --ca-file: %w", err)
			}
		}
		return a.withNewStore(c.Context(), func(s *store.Store) error {
			before, err := s.Cloud(c.Context())
			if err != nil && !errors.Is(err, appliance.ErrNotFound) {
				return err
			}
			got, err := link.Enrol(c.Context(), platform, code, by)
			if err != nil {
				return untrusted(err, "the platform's log")
			}
			err = s.SetCloud(c.Context(), store.Cloud{
				Platform: platform, Controller: got.Controller, Broker: got.Broker, Username: got.Username, Password: got.Password, CA: got.CA,
			})
			if err != nil {
				return err
			}
			noteAccount(c.Context(), s, "cloud.enrol", "platform "+platform)
			if err := operations.EnrolmentOver(a.DataDir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "enrolled at %s as %s\n", platform, got.Controller)
			again := before.Controller == got.Controller && before.Broker == got.Broker // its credential was replaced
			if err != nil || before.Controller == "" || again {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "before it was %s at %s; end that there with: platformd controller revoke %[1]s\n", before.Controller, before.Platform)
			return err
		})
	}
	return c
}

var errNotEnrolled = errors.New("this controller is not enrolled at any platform; enrol with: controllerd cloud enroll")

func newCloudStatus(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Tell where this controller is enrolled; the log of the daemon tells how the link is",
		Args:  cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c.Context(), func(s *store.Store) error {
			e, err := s.Cloud(c.Context())
			if errors.Is(err, appliance.ErrNotFound) {
				return errNotEnrolled
			}
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(c.OutOrStdout(), struct {
					Platform   string  `json:"platform"`
					Controller string  `json:"controllerId"`
					Broker     string  `json:"broker"`
					EnrolledAt *string `json:"enrolledAt"`
				}{e.Platform, e.Controller, e.Broker, cli.Stamp(e.EnrolledAt)})
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "platform    %s\ncontroller  %s\nbroker      %s\nenrolled    %s\n",
				e.Platform, e.Controller, e.Broker, cli.When(e.EnrolledAt))
			return err
		})
	}
	return c
}

func newCloudLeave(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "leave",
		Short: "End the enrolment and forget its credentials; revoke them on the platform, too",
		Args:  cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c.Context(), func(s *store.Store) error {
				left, err := s.Cloud(c.Context())
				if err == nil {
					err = s.LeaveCloud(c.Context())
				}
				if errors.Is(err, appliance.ErrNotFound) {
					return errNotEnrolled
				}
				if err != nil {
					return err
				}
				noteAccount(c.Context(), s, "cloud.leave", "platform")
				_, err = fmt.Fprintf(c.OutOrStdout(), "left %s; end it there, too: platformd controller revoke %s\n", left.Platform, left.Controller)
				return err
			})
		},
	}
}
