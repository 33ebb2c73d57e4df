package publicapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"svc.internal/controller/appliance"
)

// badBodies makes no sense on any endpoint.
var badBodies = map[string]struct{ body, field string }{
	"empty":                    {" ", "body"},
	"malformed":                {`{"targetType":1,`, "body"},
	"not an object":            {`[1,2]`, "body"},
	"a string":                 {`"targetType"`, "body"},
	"null":                     {`null`, "body"},
	"trailing garbage":         {`{"targetType":1,"command":"ON"} x`, "body"},
	"two objects":              {`{"targetType":1}{"targetType":1}`, "body"},
	"a comment":                {`{"targetType":1 /* all */}`, "body"},
	"single quotes":            {`{'targetType':1}`, "body"},
	"bad UTF-8":                {"{\"targetType\":1,\"x\":\"\xff\xfe\"}", "body"},
	"UTF-16":                   {"\xff\xfe{\x00}\x00", "body"},
	"compressed":               {"\x1f\x8b\x08\x00\x00", "body"},
	"not a number":             {`{"targetType":NaN}`, "body"},
	"leading zero":             {`{"targetType":01}`, "body"},
	"nested without end":       {strings.Repeat("[", 60000), "body"},
	"targetType twice":         {`{"targetType":1,"targetType":1}`, "targetType"},
	"targetType missing":       {`{}`, "targetType"},
	"targetType null":          {`{"targetType":null}`, "targetType"},
	"targetType 0":             {`{"targetType":0}`, "targetType"},
	"targetType 4":             {`{"targetType":4}`, "targetType"},
	"targetType 257":           {`{"targetType":257}`, "targetType"}, // would be 1 in a byte
	"targetType negative":      {`{"targetType":-1}`, "targetType"},
	"targetType a fraction":    {`{"targetType":1.5}`, "targetType"},
	"targetType huge":          {`{"targetType":18446744073709551617}`, "targetType"},
	"targetType beyond all":    {`{"targetType":1e999}`, "targetType"},
	"targetType a bit over 1":  {`{"targetType":1.00000000000000000001}`, "targetType"},
	"targetId a bit over 71":   {`{"targetType":3,"targetId":71.00000000000000000001}`, "targetId"},
	"targetId a bit over 2^53": {`{"targetType":1,"targetId":9007199254740993}`, "targetId"},
	"targetType a word":        {`{"targetType":"all"}`, "targetType"},
	"targetType hexadecimal":   {`{"targetType":"0x1"}`, "targetType"},
	"targetType infinite":      {`{"targetType":"inf"}`, "targetType"},
	"targetType true":          {`{"targetType":true}`, "targetType"},
	"targetType a list":        {`{"targetType":[1]}`, "targetType"},
	"targetType an object":     {`{"targetType":{}}`, "targetType"},
	"targetId missing with 2":  {`{"targetType":2}`, "targetId"},
	"targetId missing with 3":  {`{"targetType":3}`, "targetId"},
	"targetId null":            {`{"targetType":3,"targetId":null}`, "targetId"},
	"targetId empty":           {`{"targetType":3,"targetId":""}`, "targetId"},
	"targetId 0":               {`{"targetType":3,"targetId":0}`, "targetId"},
	"targetId negative":        {`{"targetType":3,"targetId":-5}`, "targetId"},
	"targetId beyond the last": {`{"targetType":3,"targetId":200000001}`, "targetId"},
	"targetId beyond 32 bits":  {`{"targetType":3,"targetId":4294967297}`, "targetId"},
	"targetId a fraction":      {`{"targetType":3,"targetId":"1.5"}`, "targetId"},
	"targetId a list":          {`{"targetType":1,"targetId":[1]}`, "targetId"},
	"targetId twice":           {`{"targetType":3,"targetId":1,"targetId":2}`, "targetId"},
	"wrong case":               {`{"TargetType":1,"Command":"ON"}`, "targetType"},
}

func TestBadBodiesAre400NamingTheFieldAndDoNothing(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for name, c := range badBodies {
		t.Run(name, func(t *testing.T) {
			for path := range controls {
				wantRefusal(t, h.post(path, c.body), c.field)
			}
		})
	}
	for _, c := range []struct{ path, fields, field string }{
		{"channelControl", ``, "command"},
		{"channelControl", `,"command":null`, "command"},
		{"channelControl", `,"command":"TOGGLE"`, "command"},
		{"channelControl", `,"command":"on"`, "command"},
		{"channelControl", `,"command":1`, "command"},
		{"channelControl", `,"command":"UP"`, "command"},
		{"channelControl", `,"command":"DIM"`, "dimLevel"},
		{"channelControl", `,"command":"DIM","dimLevel":-1`, "dimLevel"},
		{"channelControl", `,"command":"DIM","dimLevel":101`, "dimLevel"},
		{"channelControl", `,"command":"DIM","dimLevel":50.5`, "dimLevel"},
		{"channelControl", `,"command":"DIM","dimLevel":99.99999999999999999`, "dimLevel"},
		{"channelControl", `,"command":"DIM","dimLevel":"40.00000000000000000001"`, "dimLevel"},
		{"channelControl", `,"command":"DIM","dimLevel":1e-400`, "dimLevel"},
		{"channelControl", `,"command":"DIM","dimLevel":true`, "dimLevel"},
		{"channelControl", `,"command":"DIM","dimLevel":99999999999999999999`, "dimLevel"},
		{"channelControl", `,"command":"ON","channelId":-1`, "channelId"},
		{"channelControl", `,"command":"ON","channelId":2147483648`, "channelId"},
		{"channelControl", `,"command":"ON","channelId":"one"`, "channelId"},
		{"channelControl", `,"command":"ON","channelId":1,"channelId":2`, "channelId"},
		{"setColorTemp", ``, "colorTemp"},
		{"setColorTemp", `,"colorTemp":"warm"`, "colorTemp"},
		{"setColorTemp", `,"colorTemp":4000.5`, "colorTemp"},
		{"setColorTemp", `,"colorTemp":1e400`, "colorTemp"},
		{"setRGBW", `,"G":0,"B":0,"W":0,"DL":0`, "R"},
		{"setRGBW", `,"R":0,"B":0,"W":0,"DL":0`, "G"},
		{"setRGBW", `,"R":0,"G":0,"W":0,"DL":0`, "B"},
		{"setRGBW", `,"R":0,"G":0,"B":0,"DL":0`, "W"},
		{"setRGBW", `,"R":256,"G":0,"B":0,"W":0,"DL":0`, "R"},
		{"setRGBW", `,"R":0,"G":-1,"B":0,"W":0,"DL":0`, "G"},
		{"setRGBW", `,"R":0,"G":0,"B":0,"W":0,"DL":102`, "DL"},
		{"setRGBW", `,"R":0,"G":0,"B":0,"W":0,"DL":-1`, "DL"},
		{"setRGBW", `,"R":0,"G":0,"B":0,"W":0,"DL":{}`, "DL"},
		{"shadeControl", ``, "command"},
		{"shadeControl", `,"command":"OPEN"`, "command"},
		{"shadeControl", `,"command":"POS"`, "posValue"},
		{"shadeControl", `,"command":"POS","posValue":null`, "posValue"},
		{"shadeControl", `,"command":"POS","posValue":101`, "posValue"},
		{"shadeControl", `,"command":"POS","posValue":-1`, "posValue"},
		{"shadeControl", `,"command":"POS","posValue":"half"`, "posValue"},
	} {
		t.Run(c.path+c.fields, func(t *testing.T) {
			wantRefusal(t, h.post("/svc/api/"+c.path, `{"targetType":1`+c.fields+`}`), c.field)
		})
	}
	if done := h.core.commands(); len(done) != 0 {
		t.Errorf("commands were carried out: %+v", done)
	}
}

func TestBadLoginsAre400(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for body, field := range map[string]string{
		`{`: "body", `{}`: "username", `{"username":"a"}`: "password", `{"username":1,"password":"b"}`: "username",
		`{"username":"a","password":["b"]}`: "password", `{"username":null,"password":"b"}`: "username",
		`{"username":"a","username":"b","password":"c"}`: "username", "{\"username\":\"\xff\",\"password\":\"b\"}": "body",
	} {
		wantRefusal(t, h.send("POST", "/svc/api/authenticate", body), field)
		refresh := strings.NewReplacer(`"password":"b"`, `"refresh_token":7`, `"password"`, `"x"`).Replace(body)
		if got := h.post("/svc/api/refreshToken", refresh); got.status != 400 {
			t.Errorf("refreshToken %s: got %d %s", refresh, got.status, got.body)
		}
	}
	if h.accounts.checks != 0 {
		t.Error("a password was checked")
	}
}

func TestBadQueriesAre400NamingTheParameter(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for path, field := range map[string]string{
		"getLightLevels?targetType=0":                          "targetType",
		"getLightLevels?targetType=4":                          "targetType",
		"getLightLevels?targetType=one":                        "targetType",
		"getLightLevels?targetType=1.5":                        "targetType",
		"getLightLevels?targetType=99999999999999999999":       "targetType",
		"getLightLevels?targetType=1&targetType=2":             "targetType",
		"getLightLevels?targetType=2":                          "targetId",
		"getLightLevels?targetType=3&targetId=":                "targetId",
		"getLightLevels?targetType=3&targetId=0":               "targetId",
		"getLightLevels?targetType=3&targetId=-1":              "targetId",
		"getLightLevels?targetType=3&targetId=4294967297":      "targetId",
		"getLightLevels?targetType=3&targetId=1;drop":          "query",
		"getLightLevels?targetType=3&targetId=%zz":             "query",
		"getLightLevels?targetType=%ff":                        "targetType",
		"getNodesForCluster":                                   "clusterId",
		"getNodesForCluster?clusterId=":                        "clusterId",
		"getNodesForCluster?clusterId=x":                       "clusterId",
		"getNodesForCluster?clusterId=0":                       "clusterId",
		"getNodesForCluster?clusterId=1&clusterId=2":           "clusterId",
		"getNodesForCluster?clusterId=1&tagType=node":          "tagType",
		"getNodesForCluster?clusterId=1&tagType=SHADE":         "tagType",
		"getNodesForCluster?clusterId=1&tagType=ALL&tagType=X": "tagType",
		"getShadesForCluster":                                  "clusterId",
		"getShadesForCluster?clusterId=-1":                     "clusterId",
		"getShadesForCluster?clusterId=1e99":                   "clusterId",
	} {
		wantRefusal(t, h.get("/svc/api/"+path), field)
	}
}

func TestBodiesOverTheLimitAre413(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	huge := `{"targetType":1,"command":"ON","x":"` + strings.Repeat("y", bodyLimit) + `"}`
	for _, path := range []string{"/svc/api/channelControl", "/svc/api/setColorTemp", "/svc/api/setRGBW", "/svc/api/shadeControl"} {
		h.post(path, huge).want(t, http.StatusRequestEntityTooLarge, `{"status":0,"message":"body larger than 65536 bytes"}`)
	}
	h.post("/svc/api/authenticate", huge).want(t, http.StatusRequestEntityTooLarge, `{"status":0,"message":"body larger than 8192 bytes"}`)
	if done := h.core.commands(); len(done) != 0 {
		t.Errorf("commands were carried out: %+v", done)
	}
}

// wantRefusal wants a 400 of the documented shape that names field.
func wantRefusal(t *testing.T, got answer, field string) {
	t.Helper()
	var body struct {
		Status  *int
		Message string
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.status != 400 || body.Status == nil || *body.Status != 0 ||
		!strings.HasPrefix(body.Message, field+": ") {
		t.Errorf("got %d %s, want 400 naming %s", got.status, got.body, field)
	}
}

func FuzzBody(f *testing.F) {
	for _, c := range badBodies {
		if len(c.body) < 1000 {
			f.Add([]byte(c.body))
		}
	}
	for _, body := range controls {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := parseBody(data)
		if err != nil {
			if e := Errors.Of(err); e.Status != 400 || !utf8.ValidString(e.Message) {
				t.Fatalf("refused with %+v", e)
			}
			return
		}
		if !json.Valid(data) && !strings.HasPrefix(string(data), "\xef\xbb\xbf") {
			t.Fatal("accepted what is not JSON")
		}
		tgt, present, err := target(b)
		if err == nil && present && tgt.Scope != appliance.All && (tgt.ID < 1 || tgt.ID > appliance.MaxID) {
			t.Fatalf("accepted target %+v", tgt)
		}
		for _, name := range []string{"dimLevel", "R", "DL", "posValue", "targetType"} {
			if v, err := b.within(name, 0, 255); err == nil && (v < 0 || v > 255) {
				t.Fatalf("accepted %s %d", name, v)
			}
		}
		if w, err := b.oneOf("command", "ON", "OFF"); err == nil && w != "ON" && w != "OFF" {
			t.Fatalf("accepted command %q", w)
		}
	})
}

func FuzzQuery(f *testing.F) {
	f.Add("targetType=1&targetId=2")
	f.Add("clusterId=1&tagType=NODE&tagType=NODE")
	f.Add("targetType=%ff&targetId=1e3")
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := readQuery(&http.Request{URL: &url.URL{RawQuery: raw}})
		if err != nil {
			return
		}
		if tgt, present, err := target(q); err == nil && present && tgt.Scope != appliance.All && (tgt.ID < 1 || tgt.ID > appliance.MaxID) {
			t.Fatalf("accepted target %+v", tgt)
		}
		if id, err := q.clusterID(); err == nil && (id < 1 || id > appliance.MaxID) {
			t.Fatalf("accepted cluster %d", id)
		}
		if tag, err := q.tagType(); err == nil && tag != "" && tag != appliance.TagNode && tag != appliance.TagPeripheral {
			t.Fatalf("accepted tag %q", tag)
		}
	})
}
