package publicapi

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"svc.internal/controller/appliance"
)

// query is the part of an address after the question mark.
type query url.Values

// readQuery refuses what cannot be decoded; parameters that nobody asks for are
// ignored.
func readQuery(r *http.Request) (query, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, bad("query", "not decodable")
	}
	return query(v), nil
}

// one returns a parameter, "" if it is absent or empty. Given twice it is
// refused, unless both say the same.
func (q query) one(name string) (string, error) {
	values := q[name]
	if len(values) == 0 {
		return "", nil
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return "", bad(name, "given twice")
		}
	}
	if !utf8.ValidString(values[0]) {
		return "", bad(name, "not UTF-8")
	}
	return strings.TrimSpace(values[0]), nil
}

func (q query) integer(name string) (v int64, present bool, err error) {
	text, err := q.one(name)
	if err != nil || text == "" {
		return 0, false, err
	}
	v, problem := parseInteger(text)
	if problem != "" {
		return 0, false, bad(name, problem)
	}
	return v, true, nil
}

// clusterID returns the parameter clusterId, which must be there.
func (q query) clusterID() (appliance.ID, error) {
	v, present, err := q.integer("clusterId")
	switch {
	case err != nil:
		return 0, err
	case !present:
		return 0, bad("clusterId", "missing; want "+span(1, int64(appliance.MaxID)))
	case v < 1 || v > int64(appliance.MaxID):
		return 0, bad("clusterId", "want "+span(1, int64(appliance.MaxID))+", got "+strconv.FormatInt(v, 10))
	}
	return appliance.ID(v), nil
}

// tagType returns the parameter of that name; absent it is ALL.
func (q query) tagType() (appliance.Tag, error) {
	text, err := q.one("tagType")
	if err != nil {
		return "", err
	}
	switch text {
	case "", "ALL":
		return "", nil
	case string(appliance.TagNode), string(appliance.TagPeripheral):
		return appliance.Tag(text), nil
	}
	return "", bad("tagType", "want one of ALL, NODE, PERIPHERAL, got "+strconv.Quote(clip(text)))
}
