package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxBody bounds the body of a control request, in bytes.
const maxBody = 64 << 10

// Handler is the building's control interface, see docs/simbuilding.md. It has no
// authentication: serve it on loopback only.
func (bd *Building) Handler() http.Handler {
	mux := http.NewServeMux()
	get := func(path string, f func(r *http.Request) (any, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { respond(w, f, r) })
	}
	get("/devices", func(*http.Request) (any, error) { return map[string]any{"devices": bd.Devices()}, nil })
	get("/buses", func(*http.Request) (any, error) { return map[string]any{"buses": bd.Buses()}, nil })
	get("/faults", func(*http.Request) (any, error) { return map[string]any{"faults": bd.Faults()}, nil })
	get("/log", func(r *http.Request) (any, error) {
		frames, err := perBus(bd, r, bd.Log)
		return map[string]any{"frames": frames}, err
	})
	get("/writes", func(r *http.Request) (any, error) {
		writes, err := perBus(bd, r, bd.Writes)
		return map[string]any{"writes": writes}, err
	})
	do := func(pattern string, f func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			respond(w, f, r)
		})
	}
	do("POST /faults", bd.postFault)
	do("DELETE /faults", bd.deleteFaults)
	do("DELETE /faults/{id}", bd.deleteFault)
	do("POST /devices/{bus}/{address}/channels/{channel}", bd.postChannel)
	do("POST /devices/{bus}/{address}/shades/{output}", bd.postShade)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		refuse(w, r, mux)
	})
}

// refuse answers what no handler is for, with the status that mux has for it.
func refuse(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	told := &verdict{ResponseWriter: w}
	mux.ServeHTTP(told, r)
	why := "there is nothing at " + r.URL.Path + "; docs/simbuilding.md lists what there is"
	if allowed := w.Header().Get("Allow"); allowed != "" {
		why = r.Method + " " + r.URL.Path + ": want " + allowed
	}
	answer(w, told.status, map[string]string{"error": why})
}

// verdict keeps the status and headers of an answer, and drops its text.
type verdict struct {
	http.ResponseWriter
	status int
}

func (v *verdict) WriteHeader(status int) { v.status = status }

func (v *verdict) Write(text []byte) (int, error) { return len(text), nil }

// respond writes a result as JSON, or an error as {"error": …}: 404 for what is
// not there, 413 for too large a body, else 400.
func respond(w http.ResponseWriter, f func(*http.Request) (any, error), r *http.Request) {
	result, err := f(r)
	status := http.StatusOK
	if err != nil {
		status = http.StatusBadRequest
		var tooLarge *http.MaxBytesError
		switch {
		case errors.Is(err, ErrUnknown):
			status = http.StatusNotFound
		case errors.As(err, &tooLarge):
			status = http.StatusRequestEntityTooLarge
		}
		result = map[string]string{"error": err.Error()}
	}
	answer(w, status, result)
}

func answer(w http.ResponseWriter, status int, result any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(result)
}

// perBus answers a question about the bus named in the query, or about all.
func perBus[T any](bd *Building, r *http.Request, ask func(string, uint64, int) ([]T, error)) ([]T, error) {
	q := r.URL.Query()
	for key := range q {
		if key != "bus" && key != "since" && key != "limit" {
			return nil, fmt.Errorf("parameter %q: want bus, since, limit", key)
		}
	}
	since, err := uintParam(q.Get("since"), "since")
	if err != nil {
		return nil, err
	}
	limit, err := uintParam(q.Get("limit"), "limit")
	if err != nil {
		return nil, err
	}
	if q.Has("bus") {
		return ask(q.Get("bus"), since, int(min(limit, writeRing)))
	}
	out := []T{}
	for _, b := range bd.buses {
		part, err := ask(b.name, since, int(min(limit, writeRing)))
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}

func uintParam(s, name string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%s %q: want a number, 0 or more", name, s)
	}
	return n, nil
}

// decode reads a JSON body strictly: one value, no unknown fields.
func decode(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("body: something follows the JSON value")
	}
	return nil
}

// faultBody is what POST /faults takes: a Fault without what the building gives.
type faultBody struct {
	Bus        string    `json:"bus"`
	Address    string    `json:"address"`
	Kind       FaultKind `json:"kind"`
	Rate       *float64  `json:"rate"`
	DelayMs    int       `json:"delayMs"`
	Exception  int       `json:"exception"`
	BaudRate   int       `json:"baudRate"`
	Parity     string    `json:"parity"`
	DurationMs int       `json:"durationMs"`
	Count      int       `json:"count"`
}

func (bd *Building) postFault(r *http.Request) (any, error) {
	var b faultBody
	if err := decode(r, &b); err != nil {
		return nil, err
	}
	f := Fault{Bus: b.Bus, Address: b.Address, Kind: b.Kind, DelayMs: b.DelayMs, BaudRate: b.BaudRate, Parity: b.Parity,
		Exception: b.Exception, DurationMs: b.DurationMs, Count: b.Count}
	if b.Rate != nil {
		if *b.Rate <= 0 {
			return nil, fmt.Errorf("rate %v: want more than 0, at most 1", *b.Rate)
		}
		f.Rate = *b.Rate
	}
	id, err := bd.AddFault(f)
	if err != nil {
		return nil, err
	}
	return map[string]int{"id": id}, nil
}

func (bd *Building) deleteFaults(*http.Request) (any, error) {
	n := 0
	for _, f := range bd.Faults() {
		if bd.RemoveFault(f.ID) {
			n++
		}
	}
	return map[string]int{"removed": n}, nil
}

func (bd *Building) deleteFault(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || !bd.RemoveFault(id) {
		return nil, fmt.Errorf("fault %q is not in force: %w", r.PathValue("id"), ErrUnknown)
	}
	return map[string]int{"removed": 1}, nil
}

func (bd *Building) postChannel(r *http.Request) (any, error) {
	var body struct {
		On        *bool   `json:"on"`
		Level     *int    `json:"level"`
		ColorTemp *int    `json:"colorTemp"`
		RGBW      *string `json:"rgbw"`
	}
	channel, err := strconv.Atoi(r.PathValue("channel"))
	if err != nil {
		return nil, fmt.Errorf("channel %q: want a number from 1", r.PathValue("channel"))
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	p := Press{On: body.On, Level: body.Level, ColorTemp: body.ColorTemp}
	if body.RGBW != nil {
		colour, err := parseRGBW(*body.RGBW)
		if err != nil {
			return nil, err
		}
		p.RGBW = &colour
	}
	if p == (Press{}) {
		return nil, fmt.Errorf("body: want on, level, colorTemp or rgbw")
	}
	if err := bd.PressChannel(r.PathValue("bus"), r.PathValue("address"), channel, p); err != nil {
		return nil, err
	}
	return map[string]bool{"ok": true}, nil
}

func parseRGBW(s string) ([4]uint8, error) {
	var out [4]uint8
	parts := strings.Split(s, ":")
	if len(parts) != len(out) {
		return out, fmt.Errorf("rgbw %q: want R:G:B:W", s)
	}
	for i, p := range parts {
		n, err := number(p, 0, 255)
		if err != nil {
			return out, fmt.Errorf("rgbw %q: %w", s, err)
		}
		out[i] = uint8(n)
	}
	return out, nil
}

func (bd *Building) postShade(r *http.Request) (any, error) {
	var body struct {
		Action string `json:"action"`
	}
	output, err := strconv.Atoi(r.PathValue("output"))
	if err != nil {
		return nil, fmt.Errorf("shade output %q: want a number from 1", r.PathValue("output"))
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	if err := bd.PressShade(r.PathValue("bus"), r.PathValue("address"), output, body.Action); err != nil {
		return nil, err
	}
	return map[string]bool{"ok": true}, nil
}
