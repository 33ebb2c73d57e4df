package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/drivers"
)

// decodeLine bounds one line of input; the longest frame of any protocol is far
// shorter.
const decodeLine = 64 * 1024

func newBusDecode() *cobra.Command {
	var protocol string
	names := strings.Join(slices.Sorted(maps.Keys(drivers.Decoders)), ", ")
	c := &cobra.Command{
		Use:   "decode --protocol NAME",
		Short: "Explain frames: hexadecimal lines in, one JSON object a line out",
		Long: `Read one frame a line from standard input, as hexadecimal digits with or without
spaces, and print one JSON object a line: {"ok":true,…fields} or {"ok":false,"error":…}.
Protocols: ` + names + `.`,
		Example: "  echo 01 03 00 00 00 02 c4 0b | controllerd bus decode --protocol modbus-rtu",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			decode := drivers.Decoders[protocol]
			if decode == nil {
				return usageError{fmt.Errorf("protocol %q: want one of %s", protocol, names)}
			}
			return decodeLines(c.InOrStdin(), c.OutOrStdout(), decode)
		},
	}
	c.Flags().StringVar(&protocol, "protocol", "", "`name` of the protocol: "+names)
	c.MarkFlagRequired("protocol")
	return c
}

func decodeLines(in io.Reader, out io.Writer, decode func([]byte) (any, error)) error {
	w := bufio.NewWriter(out)
	defer w.Flush()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, decodeLine)
	for lines.Scan() {
		text := strings.Join(strings.Fields(lines.Text()), "")
		if text == "" {
			continue
		}
		var fields any
		frame, err := hex.DecodeString(text)
		if err == nil {
			fields, err = decode(frame)
		}
		line, jerr := decoded(fields, err)
		if jerr != nil {
			return jerr
		}
		w.Write(append(line, '\n'))
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// decoded joins the verdict and the fields into one object.
func decoded(fields any, err error) ([]byte, error) {
	if err != nil {
		return json.Marshal(struct {
			OK    bool   `json:"ok"`
			Error string `json:"error"`
		}{false, err.Error()})
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(body, []byte("{}")) {
		return []byte(`{"ok":true}`), nil
	}
	return append([]byte(`{"ok":true,`), body[1:]...), nil
}
