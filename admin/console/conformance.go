package console

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/trust"
	"svc.internal/controller/tools/conformance"
)

// remote is what a command needs to talk to another controller's public API.
type remote struct {
	url, username, passwordFile string
	caFile, fingerprint         string
}

// flags adds what names the other controller; flag is the name of its address.
func (r *remote) flags(c *cobra.Command, flag string) {
	f := c.Flags()
	f.StringVar(&r.url, flag, "", "`address` of the controller, such as https://controller.local")
	f.StringVar(&r.username, "username", "", "`name` to log in with")
	f.StringVar(&r.passwordFile, "password-file", "", "`file` with the password; - for standard input")
	f.StringVar(&r.caFile, "ca-file", "", "PEM `file` with its certificate, or that of its authority")
	f.StringVar(&r.fingerprint, "fingerprint", "", "`SHA256` fingerprint of its certificate")
	for _, name := range []string{flag, "username", "password-file"} {
		c.MarkFlagRequired(name)
	}
	c.MarkFlagsMutuallyExclusive("ca-file", "fingerprint")
}

// trust is what its certificate is known by.
func (r *remote) trust() (trust.Trust, error) {
	by := trust.Trust{Fingerprint: r.fingerprint, Only: true}
	if r.caFile != "" {
		var err error
		if by.CA, err = os.ReadFile(r.caFile); err != nil {
			return by, fmt.Errorf("read --ca-file: %w", err)
		}
	}
	return by, nil
}

// host of its address, for messages.
func (r *remote) host() string {
	if u, err := url.Parse(r.url); err == nil && u.Host != "" {
		return u.Host
	}
	return r.url
}

// secretFrom reads what from a file, a password or a passphrase, without the newline at its end.
func secretFrom(c *cobra.Command, what, file string) (string, error) {
	const most = 4096
	in := c.InOrStdin()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("read the %s: %w", what, err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return "", fmt.Errorf("read the %s: %w", what, err)
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if secret == "" {
		return "", cli.Usage(fmt.Errorf("%s: the %s is empty", file, what))
	}
	return secret, nil
}

// untrusted words why a server is not known, in flags; where tells what its fingerprint is to be compared with.
func untrusted(err error, where string) error {
	var u *trust.Untrusted
	if errors.As(err, &u) {
		return fmt.Errorf("nothing was sent to %s: its certificate is not known (%w)\nits fingerprint is %s; compare it with what %s shows, and give it with --fingerprint, or its certificate with --ca-file",
			u.Host, u.Err, u.Fingerprint, where)
	}
	return err
}

// notConforming is the error of a controller that breaks the contract.
type notConforming struct{ error }

func (notConforming) ExitCode() int { return 3 }

func newConformance() *cobra.Command {
	var at, reader remote
	var commands, junit string
	var strict bool
	c := &cobra.Command{
		Use:   "conformance --url URL --username NAME --password-file FILE (--ca-file FILE | --fingerprint SHA256)",
		Short: "Ask any controller everything that the Controller 1.0 contract promises",
		Long: `Ask any controller everything that the Controller 1.0 contract promises, and what we
decided where the contract is silent, and print a table. Without --commands it only reads;
two of its log-ins fail on purpose. With it, what it names is dimmed, switched, coloured and moved, and put back at the end.
A row of the contract that does not hold is FAILED; one of our decisions that another
controller took otherwise "differs", which is no failure unless --strict is given.

Exit code: 0 the contract holds, 1 it could not be asked, 2 called wrongly, 3 it does not hold.`,
		Example: "  controllerd conformance --url https://controller.local --username bms --password-file bms.txt --ca-file controller.pem\n" +
			"  controllerd conformance --url https://controller.local --username bms --password-file - --fingerprint 9F:… --commands cluster:3 --junit report.xml",
		Args: cli.Args(cobra.NoArgs),
	}
	at.flags(c, "url")
	asJSON := cli.JSONFlag(c)
	f := c.Flags()
	f.StringVar(&commands, "commands", "", "`target` that may be commanded: all, cluster:ID, node:ID or shade:ID")
	f.StringVar(&reader.username, "reader", "", "`name` of an account that may only read, to see it refused")
	f.StringVar(&reader.passwordFile, "reader-password-file", "", "`file` with its password")
	f.StringVar(&junit, "junit", "", "write the result to a `file` for build servers, too")
	f.BoolVar(&strict, "strict", false, "count differences from our decisions as failures")
	c.MarkFlagsRequiredTogether("reader", "reader-password-file")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg := conformance.Config{URL: at.url, Username: at.username, Reader: reader.username}
		if commands != "" {
			target, err := conformance.ParseTarget(commands)
			if err != nil {
				return cli.Usage(fmt.Errorf("--commands %s: %w", commands, err))
			}
			cfg.Commands = &target
		}
		by, err := at.trust()
		if err != nil {
			return err
		}
		if cfg.TLS, err = by.Config(at.host()); err != nil {
			return cli.Usage(err)
		}
		if cfg.Password, err = secretFrom(c, "password", at.passwordFile); err != nil {
			return err
		}
		if reader.username != "" {
			if cfg.ReaderPassword, err = secretFrom(c, "password of --reader", reader.passwordFile); err != nil {
				return err
			}
		}
		report, err := conformance.Run(c.Context(), cfg)
		if err != nil {
			return untrusted(err, "that controller")
		}
		if err := showConformance(c.OutOrStdout(), report, *asJSON, junit, strict); err != nil {
			return err
		}
		if report.Failed > 0 || strict && report.Differs > 0 {
			return notConforming{fmt.Errorf("%s: %d rows of the contract do not hold, %d differ from our decisions", at.url, report.Failed, report.Differs)}
		}
		return nil
	}
	return c
}

func showConformance(w io.Writer, report conformance.Report, asJSON bool, junit string, strict bool) error {
	if junit != "" {
		f, err := os.Create(junit)
		if err != nil {
			return fmt.Errorf("write --junit: %w", err)
		}
		if err := errors.Join(report.JUnit(f, strict), f.Close()); err != nil {
			return fmt.Errorf("write --junit: %w", err)
		}
	}
	if asJSON {
		return cli.PrintJSON(w, report)
	}
	return report.Table(w)
}
