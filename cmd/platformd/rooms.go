package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/cli"
)

func newRooms(a *app) *cobra.Command {
	c := cli.Group(&cobra.Command{Use: "rooms", Short: "Put panels onto the RoomOS devices of rooms"})
	c.AddCommand(newRoomsBundle(a), newRoomsInstall(a), newRoomsUninstall(a))
	return c
}

// kitFlags say what goes into kits.
type kitFlags struct{ platform, certificate string }

func (k *kitFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&k.platform, "platform", "", "`URL` by which devices reach this platform, such as https://platform.example")
	c.Flags().StringVar(&k.certificate, "platform-certificate", "", "PEM `file` with the certificate that the platform shows; "+certificateFile+" in the data directory by default")
	if err := c.MarkFlagRequired("platform"); err != nil {
		panic(err) // the flag is three lines above
	}
}

// served is the certificate that the platform shows; nil if there is no file by default.
func (k *kitFlags) served(a *app) ([]byte, error) {
	b, err := os.ReadFile(cmp.Or(k.certificate, filepath.Join(a.dataDir, certificateFile)))
	if errors.Is(err, os.ErrNotExist) && k.certificate == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the platform's certificate: %w", err)
	}
	return b, nil
}

func newRoomsBundle(a *app) *cobra.Command {
	var k kitFlags
	var file string
	c := &cobra.Command{
		Use:   "bundle DEVICE --platform URL -o FILE",
		Short: "Write macro and panel of a device, filled in, to a ZIP for its own pages",
		Long: `Write what makes a RoomOS device the panel of its room: macro and panel with address
and panel code filled in, the platform's certificate where nobody else vouches for it,
and a README with the clicks. The file holds the panel's secret: only its owner can read it.`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, given []string) error {
			served, err := k.served(a)
			if err != nil {
				return err
			}
			return a.withStore(c.Context(), func(s *store.Store) error {
				kit, err := kitOf(c.Context(), s, given[0], k.platform, served)
				if err != nil {
					return err
				}
				return writeBundle(kit, file)
			})
		},
	}
	k.add(c)
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write; it must not be there yet")
	if err := c.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag is two lines above
	}
	return c
}

func kitOf(ctx context.Context, s *store.Store, device, address string, served []byte) (panel.Kit, error) {
	d, err := s.RoomDevice(ctx, device)
	if errors.Is(err, platform.ErrNotFound) {
		return panel.Kit{}, fmt.Errorf("there is no device %q; the page \"Rooms\" lists them", device)
	}
	if err != nil {
		return panel.Kit{}, err
	}
	return panel.NewKit(d, address, served)
}

func writeBundle(kit panel.Kit, file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	if err := errors.Join(kit.Zip(f), f.Close()); err != nil {
		return fmt.Errorf("write the bundle: %w", errors.Join(err, os.Remove(file)))
	}
	return nil
}

// row of a list of devices.
type row struct{ address, device, fingerprint string }

// listMost rows are read of a list.
const listMost = platform.MaxRoomDevices

// readList reads address, device ID and, where given, fingerprint of each line; lines that begin with # and a heading are left
// out. With bare, an address is enough.
func readList(c *cobra.Command, file string, bare bool) ([]row, error) {
	in := c.InOrStdin()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("read the list: %w", err)
		}
		defer f.Close()
		in = f
	}
	r := csv.NewReader(bufio.NewReader(in))
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = '#', -1, true
	var rows []row
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("read the list %s: %w", file, err))
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(rows) == 0 && strings.EqualFold(fields[0], "address") {
			continue
		}
		line, _ := r.FieldPos(0)
		fields = append(fields, "", "")
		at := row{fields[0], fields[1], fields[2]}
		switch {
		case at.address == "" || at.device == "" && !bare || len(fields) > 5:
			return nil, cli.Usage(fmt.Errorf("%s, line %d: want ADDRESS,DEVICE or ADDRESS,DEVICE,FINGERPRINT", file, line))
		case slices.ContainsFunc(rows, func(r row) bool { return r.address == at.address }):
			return nil, cli.Usage(fmt.Errorf("%s, line %d: %s stands there twice", file, line, at.address))
		case len(rows) == listMost:
			return nil, cli.Usage(fmt.Errorf("%s has more than %d lines", file, listMost))
		}
		rows = append(rows, at)
	}
	if len(rows) == 0 {
		return nil, cli.Usage(fmt.Errorf("%s lists no device", file))
	}
	return rows, nil
}
