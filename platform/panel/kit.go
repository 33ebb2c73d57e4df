package panel

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// Macro is what a RoomOS device runs, with examples in place of device, platform and code.
//
//go:embed macro.js
var Macro string

// MacroVersion is the version that [Macro] tells the platform; it grows with each change that devices should get.
const MacroVersion = 1

// MacroName is the macro's name on a device, where letters, digits, - and _ are allowed.
const MacroName = wire.ControlsPanel

// Kit is what makes one RoomOS device the panel of its room. It holds the panel's code, which is a secret.
type Kit struct {
	Device platform.RoomDevice
	// Platform is where the device reaches the platform: https://, host and port, no more.
	Platform string
	// Certificate that the platform shows, PEM, if nobody else vouches for it: the device has to be told to trust it. Otherwise nil.
	Certificate []byte
}

// NewKit makes the kit of a deployed device; served is the certificate (chain) that the platform shows, PEM, or nil.
func NewKit(d platform.RoomDevice, address string, served []byte) (Kit, error) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "https" || at.Hostname() == "" || at.User != nil || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "" {
		return Kit{}, platform.Invalid("platform: want https:// and the host by which devices reach the platform, such as https://platform.example")
	}
	if !d.Deployed || d.Code == "" {
		return Kit{}, platform.Conflict("the panel of this room is not deployed; deploy it, and then it has a code for the macro")
	}
	return Kit{Device: d, Platform: "https://" + at.Host, Certificate: unvouched(served)}, nil
}

// unvouched is the first certificate of a chain if it vouches for itself alone, otherwise nil.
func unvouched(chain []byte) []byte {
	block, _ := pem.Decode(chain)
	if block == nil {
		return nil
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !bytes.Equal(leaf.RawIssuer, leaf.RawSubject) {
		return nil
	}
	return pem.EncodeToMemory(block)
}

// fingerprint of a certificate, SHA-256, as browsers show it.
func fingerprint(certificate []byte) string {
	block, _ := pem.Decode(certificate)
	sum := sha256.Sum256(block.Bytes)
	text := strings.ToUpper(hex.EncodeToString(sum[:]))
	var pairs []string
	for i := 0; i < len(text); i += 2 {
		pairs = append(pairs, text[i:i+2])
	}
	return strings.Join(pairs, ":")
}

// Macro is the macro of this device.
func (k Kit) Macro() string {
	return strings.NewReplacer(
		"const platform = 'https://platform.example';", "const platform = "+quote(k.Platform)+";",
		"const deviceId = 'lobby-device';", "const deviceId = "+quote(k.Device.ID)+";",
		"const code = 'PANEL-CODE';", "const code = "+quote(k.Device.Code)+";",
	).Replace(Macro)
}

// quote writes text as JSON does, with what could end a line, a string or a script element escaped: JavaScript reads the same.
func quote(text string) string {
	b, _ := json.Marshal(text) // strings can be written
	return string(b)
}

// Panel is the description of the panel, with the room's name as its title.
func (k Kit) Panel() string {
	name := k.Device.Workspace
	if name == "" {
		return Description
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(name)) // a builder takes everything
	return strings.Replace(Description, "<PageId>platformControlsPage</PageId>\n      <Name>Room</Name>",
		"<PageId>platformControlsPage</PageId>\n      <Name>"+b.String()+"</Name>", 1)
}

// Zip writes macro, panel, certificate and what to do with them.
func (k Kit) Zip(w io.Writer) error {
	z := zip.NewWriter(w)
	files := []struct{ name, text string }{
		{"README.txt", k.readme()}, {MacroName + ".js", k.Macro()}, {MacroName + ".xml", k.Panel()}, {"platform.pem", string(k.Certificate)},
	}
	for _, f := range files {
		if f.text == "" {
			continue
		}
		to, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Now()})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(to, f.text); err != nil {
			return err
		}
	}
	return z.Close()
}

// oneLine is a name as it stands in a text for people.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, name)
}

// readme tells the clicks in the device's own pages.
func (k Kit) readme() string {
	var b strings.Builder
	fmt.Fprintf(&b, `Panel for the room:  %s
Device:              %s
Platform:            %s
Macro:               version %d

These files hold the secret of this one panel. Delete them once they are on the device. Withdrawing the panel
in the platform's page "Rooms" makes the secret worthless; after that download the files anew.

In a browser, open https://ADDRESS-OF-THE-DEVICE and log in as administrator. Then:
`, oneLine(k.Device.Workspace), oneLine(k.Device.ID), k.Platform, MacroVersion)
	step := 0
	next := func(format string, given ...any) {
		step++
		fmt.Fprintf(&b, "\n%d. "+format+"\n", append([]any{step}, given...)...)
	}
	if k.Certificate != nil {
		next(`Trust the platform, whose certificate nobody else vouches for:
   Security > Certificates > Custom > Add Certificate: choose platform.pem, upload.
   Its SHA-256 fingerprint is
   %s
   (Not needed where a proxy before the platform shows a certificate that the device knows.)`, fingerprint(k.Certificate))
	}
	next(`Let macros ask the platform: Settings > Configurations > HttpClient: set Mode to On. Leave
   AllowInsecureHTTPS off. If the device has a list of allowed hosts (xCommand HttpClient Allow Hostname List),
   add the platform's.`)
	next(`Put the panel on: UI Extensions Editor > menu > Merge from file: choose %s.xml; then Export to device.`, MacroName)
	next(`Put the macro on: Macro Editor > Import from file: choose %s.js; name it %s, save it, switch it on.`, MacroName, MacroName)
	next(`See it work: the panel shows the room's lights and shades, and the page "Rooms" tells "macro %d".`, MacroVersion)
	b.WriteString(`
To take it off: Macro Editor, delete the macro; UI Extensions Editor, delete the panel "Room"; then withdraw the
panel in the page "Rooms".

Many devices at once: page "Rooms", "Roll out", or platformd rooms install --help
`)
	return b.String()
}
