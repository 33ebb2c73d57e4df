package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // so that its size can be read
	_ "image/png"
	"strings"
)

const (
	// Most is the largest picture, in bytes.
	Most = 512 << 10
	// pixelsMost bounds what a phone has to unpack of a photograph, in pixels, and sideMost its sides.
	pixelsMost, sideMost = 16 << 20, 8192
)

// The types that there are.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	SVG  = "image/svg+xml"
)

// Errors of [Take]; they are fit for whoever brought the picture.
var (
	ErrLarge   = fmt.Errorf("the picture has more than %d KiB", Most>>10)
	ErrUnknown = errors.New("this is no picture in PNG, JPEG or SVG")
)

// Picture is one that was taken in.
type Picture struct {
	Type          string
	Width, Height float64 // pixels, or the units of an SVG: above 0
	Data          []byte  // of an SVG: as it was made harmless
	Sum           string  // SHA-256 of Data, in hexadecimal digits: its name
}

// Take looks at what somebody brought, whatever it is called. An SVG comes back without scripts, links to elsewhere and
// what only documents have; taking it again changes nothing.
func Take(data []byte) (Picture, error) {
	if len(data) > Most {
		return Picture{}, ErrLarge
	}
	p := Picture{Data: data}
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		p.Type = PNG
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		p.Type = JPEG
	default:
		var err error
		if p.Data, p.Width, p.Height, err = harmless(data); err != nil {
			return Picture{}, err
		}
		p.Type = SVG
	}
	if p.Type != SVG {
		size, _, err := image.DecodeConfig(bytes.NewReader(data))
		switch {
		case err != nil:
			return Picture{}, fmt.Errorf("the picture cannot be read: %w", err)
		case size.Width < 1 || size.Height < 1 || size.Width > sideMost || size.Height > sideMost || size.Width*size.Height > pixelsMost:
			return Picture{}, fmt.Errorf("the picture has %d × %d pixels; at most %d on a side, and 16 million in all", size.Width, size.Height, sideMost)
		}
		p.Width, p.Height = float64(size.Width), float64(size.Height)
	}
	sum := sha256.Sum256(p.Data)
	p.Sum = hex.EncodeToString(sum[:])
	return p, nil
}

// readable is the largest SVG, in bytes, that stands in a text file as it is.
const readable = 16 << 10

// Text is a picture as a text file can hold it: a small SVG as it is, the others as a data URL.
func Text(kind string, data []byte) string {
	if kind == SVG && len(data) <= readable {
		return string(data)
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// OfText takes in what [Text] wrote, or a person.
func OfText(text string) (Picture, error) {
	rest, ok := strings.CutPrefix(text, "data:")
	if !ok {
		return Take([]byte(text))
	}
	_, coded, ok := strings.Cut(rest, ";base64,")
	if !ok {
		return Picture{}, ErrUnknown
	}
	if base64.StdEncoding.DecodedLen(len(coded)) > Most+2 {
		return Picture{}, ErrLarge
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(coded))
	if err != nil {
		return Picture{}, fmt.Errorf("the picture is no base64: %w", err)
	}
	return Take(data)
}
