package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/drivers"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/site/recording"
)

func newBusDecode() *cobra.Command {
	var protocol, file string
	names := strings.Join(slices.Sorted(maps.Keys(drivers.Decoders)), ", ")
	c := &cobra.Command{
		Use:   "decode {--protocol NAME [HEX…] | --file RECORDING}",
		Short: "Explain frames: hexadecimal lines in, one JSON object a line out",
		Long: `Explain frames, given as hexadecimal digits with or without spaces: one an argument, or
one a line from standard input. Prints one JSON object a line: {"ok":true,…fields} or
{"ok":false,"error":…}; a frame that is damaged is explained as such. --file explains those of a recording made with 'bus monitor
--export' anew, each with its time, bus and direction; - reads it from standard input.

Exit code: 0 every frame was looked at, damaged or not; 1 some input was no frame at all, that
is not hexadecimal digits in pairs; 2 called wrongly. Protocols: ` + names + `.`,
		Example: `  controllerd bus decode --protocol modbus-rtu "01 03 00 00 00 02 c4 0b"
  echo 01 03 00 00 00 02 c4 0b | controllerd bus decode --protocol modbus-rtu
  controllerd bus decode --file night.jsonl`,
		Args: cli.Args(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, frames []string) error {
			in := c.InOrStdin()
			switch decode := drivers.Decoders[protocol]; {
			case (protocol == "") == (file == ""), file != "" && len(frames) > 0:
				return cli.Usage(fmt.Errorf("want --protocol with frames, or --file alone\nUsage: %s", c.UseLine()))
			case file == "-":
				return decodeRecording(file, in, c.OutOrStdout())
			case file != "":
				f, err := os.Open(file)
				if err != nil {
					return fmt.Errorf("read a recording: %w", err)
				}
				defer f.Close()
				return decodeRecording(file, f, c.OutOrStdout())
			case decode == nil:
				return cli.Usage(fmt.Errorf("protocol %q: want one of %s", protocol, names))
			default:
				if len(frames) > 0 {
					in = strings.NewReader(strings.Join(frames, "\n"))
				}
				return decodeLines(in, c.OutOrStdout(), decode)
			}
		},
	}
	c.Flags().StringVar(&protocol, "protocol", "", "`name` of the protocol: "+names)
	c.Flags().StringVar(&file, "file", "", "a `recording`")
	return c
}

// decodeRecording explains the frames of a recording with the decoders of this
// program, whatever the one that wrote it said.
func decodeRecording(name string, in io.Reader, out io.Writer) error {
	enc := json.NewEncoder(out)
	return recording.Read(name, in, func(f recording.Frame) error {
		f.Explain(drivers.Decoders[f.Protocol])
		return enc.Encode(f)
	})
}

// decodeLines explains one frame a line. It goes on after a line that is no frame,
// and fails at the end.
func decodeLines(in io.Reader, out io.Writer, decode func([]byte) (any, error)) error {
	unread, total := 0, 0
	w := bufio.NewWriter(out)
	defer w.Flush()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, recording.LongestLine)
	for lines.Scan() {
		text := strings.Join(strings.Fields(lines.Text()), "")
		if text == "" {
			continue
		}
		var fields any
		total++
		frame, err := recording.HexBytes(text)
		if err == nil {
			fields, err = decode(frame)
		} else {
			unread++
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
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d has more than %d characters: no protocol has frames as long as that", total+1, recording.LongestLine)
	case err != nil:
		return fmt.Errorf("read frames: %w", err)
	case unread > 0:
		return fmt.Errorf("%d of %d inputs are not frames in hexadecimal digits", unread, total)
	}
	return nil
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
