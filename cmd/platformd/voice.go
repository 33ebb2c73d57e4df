package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/voice"
	"svc.internal/controller/shelf/cli"
)

// voiceSettings are the four variables of the contract.
type voiceSettings struct {
	enabled, dev, assistant bool
	token                   string
}

func readVoiceSettings(getenv func(string) string) (voiceSettings, error) {
	on := func(name string) bool { v := getenv(name); return v == "true" || v == "1" }
	v := voiceSettings{
		enabled: on("VOICE_ACTION_ENABLED"), dev: on("VOICE_ACTION_DEV_MODE"), assistant: on("VOICE_LLM_ENABLED"),
		token: getenv("VOICE_ACTION_TOKEN"),
	}
	if v.enabled && v.token == "" && !v.dev {
		return v, errors.New("VOICE_ACTION_ENABLED is set without VOICE_ACTION_TOKEN; set the secret that devices have to send")
	}
	return v, nil
}

// check refuses dev mode where others than this machine could reach it.
func (v voiceSettings) check(cfg serveConfig) error {
	if !v.enabled || !v.dev || cfg.listen == "" {
		return nil
	}
	if addr, err := netip.ParseAddrPort(cfg.listen); err == nil && addr.Addr().IsLoopback() {
		return nil
	}
	return cli.Usage(fmt.Errorf("VOICE_ACTION_DEV_MODE asks nobody for a secret, so it is for loopback only; serve with --listen 127.0.0.1:8443 instead of %s, or set VOICE_ACTION_TOKEN", cfg.listen))
}

// voice makes the endpoint of rooms, if it is enabled; nil otherwise. provider opens panels; nil: macros do.
func (d *daemon) voice(g *gate.Gate, asker platform.Asker, provider panel.Provider) *voice.Room {
	if !d.speech.enabled {
		return nil
	}
	if !d.speech.assistant {
		asker = nil
	}
	cfg := voice.Config{
		Token: d.speech.token, Dev: d.speech.dev, Assistant: asker, Devices: d.db, Send: d.cloud.link, Site: d.sites, Shown: d.cloud.board.Shown, Answered: d.cloud.board.Answered, Scenes: d.cloud.board.Scenes,
		Charge: g.Charge, Stranger: gate.AddressBucket, Log: d.log,
	}
	if provider != nil {
		cfg.Open = func(ctx context.Context, device string) error {
			return provider.OpenPanel(ctx, device, wire.ControlsPanel)
		}
	}
	return voice.NewRoom(cfg)
}

func newVoice() *cobra.Command {
	c := cli.Group(&cobra.Command{Use: "voice", Short: "Try what is said in rooms"})
	c.AddCommand(newVoiceParse(), newVoiceSay())
	return c
}

func newVoiceParse() *cobra.Command {
	return &cobra.Command{
		Use:   "parse",
		Short: "Understand sentences from standard input, without doing anything",
		Long: `Reads one sentence a line from standard input and writes one JSON object a line:
{"text":…,"intent":…,"slots":{…}}. Nothing is sent anywhere.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			in := bufio.NewScanner(c.InOrStdin())
			in.Buffer(make([]byte, 64<<10), 1<<20)
			out := bufio.NewWriter(c.OutOrStdout())
			defer out.Flush()
			enc := json.NewEncoder(out)
			enc.SetEscapeHTML(false)
			for in.Scan() {
				heard := voice.Parse(in.Text())
				if err := enc.Encode(struct {
					Text string `json:"text"`
					voice.Heard
				}{in.Text(), heard}); err != nil {
					return err
				}
			}
			return in.Err()
		},
	}
}

func newVoiceSay() *cobra.Command {
	var at, device, tokenFile, ca string
	c := &cobra.Command{
		Use:   "say --device ID SENTENCE",
		Short: "Say a sentence in a room, as its device would",
		Long: `Posts a sentence to the voice endpoint of a platform, prints what the room would hear, and exits with 1 if nothing
was done. The secret comes from the environment variable VOICE_ACTION_TOKEN or from a file.`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, given []string) error {
			token := os.Getenv("VOICE_ACTION_TOKEN")
			if tokenFile != "" {
				b, err := os.ReadFile(tokenFile)
				if err != nil {
					return fmt.Errorf("read the voice token: %w", err)
				}
				token = strings.TrimSpace(string(b))
			}
			return say(c, at, ca, device, token, given[0])
		},
	}
	f := c.Flags()
	f.StringVar(&at, "url", "https://localhost", "`URL` of the platform")
	f.StringVar(&device, "device", "", "`ID` of the conferencing device")
	f.StringVar(&tokenFile, "token-file", "", "`file` with the voice action token")
	f.StringVar(&ca, "ca", "", "`file` with the certificate to trust, PEM; the system's otherwise")
	if err := c.MarkFlagRequired("device"); err != nil {
		panic(err) // the flag is three lines above
	}
	return c
}

func say(c *cobra.Command, at, ca, device, token, sentence string) error {
	target, err := url.JoinPath(at, voice.Path)
	if err != nil {
		return cli.Usage(fmt.Errorf("--url %s: %w", at, err))
	}
	body, err := json.Marshal(map[string]string{"deviceId": device, "text": sentence, "source": "platformd"})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(c.Context(), http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return cli.Usage(fmt.Errorf("--url %s: %w", at, err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Voice-Action-Token", token)
	client := &http.Client{Timeout: 15 * time.Second}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return fmt.Errorf("read the certificate to trust: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s holds no certificate in PEM", ca)
		}
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	}
	resp, err := client.Do(req)
	if unknown := new(tls.CertificateVerificationError); errors.As(err, &unknown) {
		return fmt.Errorf("say it at %s: its certificate is not trusted (%w); give that certificate, or its authority's, with --ca; "+
			"the one that a platform makes for itself is certificate.pem in its data directory", target, unknown.Err)
	}
	if err != nil {
		return fmt.Errorf("say it at %s: %w", target, err)
	}
	defer resp.Body.Close()
	var out struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || json.Unmarshal(b, &out) != nil {
		return fmt.Errorf("say it at %s: %s, which is no answer of a platform", target, resp.Status)
	}
	fmt.Fprintln(c.OutOrStdout(), out.Message)
	if !out.Success {
		return fmt.Errorf("nothing was done (%s)", resp.Status)
	}
	return nil
}
