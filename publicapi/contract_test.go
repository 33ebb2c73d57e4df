package publicapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

// The tests of this file are named after the rows of the contract's tables.

const (
	readPaths = "/svc/api/getClusters /svc/api/getActiveNodes /svc/api/getNodesForCluster?clusterId=1 " +
		"/svc/api/getLightLevels /svc/api/getShades /svc/api/getShadesForCluster?clusterId=1"
	unauthorized = `{"status":0,"message":"Authentication required"}`
	authFailure  = `{"responseCode":0,"errorCode":"AuthFailed"}`
)

// controls are the control paths with a body that succeeds.
var controls = map[string]string{
	"/svc/api/channelControl": `{"targetType":3,"targetId":1,"channelId":0,"command":"ON"}`,
	"/svc/api/setColorTemp":   `{"targetType":2,"targetId":1,"colorTemp":3500}`,
	"/svc/api/setRGBW":        `{"targetType":1,"R":1,"G":2,"B":3,"W":4,"DL":101}`,
	"/svc/api/shadeControl":   `{"targetType":3,"targetId":5001,"command":"UP"}`,
}

func TestContractTargetType(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for _, c := range []struct {
		name, fields string
		want         appliance.Target
	}{
		{"1 = all", `"targetType":1`, appliance.Target{Scope: appliance.All}},
		{"1 = all, a targetId is ignored", `"targetType":1,"targetId":7`, appliance.Target{Scope: appliance.All}},
		{"1 = all, a targetId of 0 is ignored", `"targetType":1,"targetId":0`, appliance.Target{Scope: appliance.All}},
		{"1 = all, a targetId of null is ignored", `"targetType":1,"targetId":null`, appliance.Target{Scope: appliance.All}},
		{"2 = cluster", `"targetType":2,"targetId":9`, appliance.Target{Scope: appliance.InCluster, ID: 9}},
		{"3 = specific target", `"targetType":3,"targetId":5001`, appliance.Target{Scope: appliance.One, ID: 5001}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for path, rest := range map[string]string{
				"/svc/api/channelControl": `"command":"OFF"`, "/svc/api/setColorTemp": `"colorTemp":3000`,
				"/svc/api/setRGBW": `"R":0,"G":0,"B":0,"W":0,"DL":101`, "/svc/api/shadeControl": `"command":"STOP"`,
			} {
				h.post(path, `{`+c.fields+`,`+rest+`}`)
				done := h.core.commands()
				if len(done) != 1 || done[0].Target != c.want {
					t.Errorf("%s: got %+v, want one command for %+v", path, done, c.want)
				}
			}
		})
	}
}

func TestContractCluster(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.get("/svc/api/getClusters").want(t, 200, `[`+
		`{"id":1,"name":"Lobby","createdByName":"anna","createdOn":"2026-01-02T03:04:05Z","nodeCount":3,"dimLevel":60,"shadeLevel":30,"colorLevel":3500,"rgbw":"1:20:255:0"},`+
		`{"id":2,"name":"Only lights","createdByName":"anna","createdOn":"2026-01-02T03:04:05Z","nodeCount":1,"dimLevel":40,"shadeLevel":0,"colorLevel":3500,"rgbw":"0:0:0:0"}]`)
}

func TestContractLightLevelRow(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	node1 := func(cluster string) string {
		return `{"Id":11,"ClusterId":` + cluster + `,"NodeId":1,"value":"40","valueType":"DIM_LEVEL","Synchronize":"","AllVal":""},` +
			`{"Id":12,"ClusterId":` + cluster + `,"NodeId":1,"value":"3500","valueType":"COLOR_LEVEL","Synchronize":"","AllVal":""},` +
			`{"Id":15,"ClusterId":` + cluster + `,"NodeId":1,"value":"12.3","valueType":"PPOWER","Synchronize":"","AllVal":""}`
	}
	shade := `{"Id":50014,"ClusterId":1,"NodeId":5001,"value":"30","valueType":"SHADE_LEVEL","Synchronize":"","AllVal":""}`
	all := `[` + node1("1") + `,` +
		`{"Id":21,"ClusterId":1,"NodeId":2,"value":"80","valueType":"DIM_LEVEL","Synchronize":"","AllVal":""},` +
		`{"Id":23,"ClusterId":1,"NodeId":2,"value":"1:20:255:0","valueType":"COLOR","Synchronize":"","AllVal":""},` +
		`{"Id":35,"ClusterId":1,"NodeId":3,"value":"-250","valueType":"PPOWER","Synchronize":"","AllVal":""},` + shade + `]`
	for query, want := range map[string]string{
		"":                            all,
		"?targetType=1":               all,
		"?targetType=1&targetId=0":    all,
		"?targetType=1&targetId=":     all,
		"?targetType=2&targetId=1":    all,
		"?targetType=2&targetId=2":    `[` + node1("2") + `]`,
		"?targetType=3&targetId=1":    `[` + node1("1") + `]`,
		"?targetType=3&targetId=4":    `[]`, // a value that was never read has no row
		"?targetType=3&targetId=%31":  `[` + node1("1") + `]`,
		"?targetType=3&targetId=5001": `[` + shade + `]`,
		"?targetType=3&targetId=5002": `[]`,
	} {
		t.Run("getLightLevels"+query, func(t *testing.T) { h.get("/svc/api/getLightLevels"+query).want(t, 200, want) })
	}
}

func TestContractLightLevelRowsAreUniqueAndAscendingWhenIDsCoincide(t *testing.T) {
	s := newSite().
		node(7, "N", tunable|colourful|metered, func(n *appliance.NodeState) {
			n.Level, n.Kelvin, n.RGBW, n.Power = known(appliance.Level(1), 0), known(appliance.Kelvin(3000), 0), known(appliance.RGBW{}, 0), known(1.0, 0)
		}).
		node(appliance.MaxID, "Last", dimmable, func(n *appliance.NodeState) { n.Level = known(appliance.Level(2), 0) }).
		shade(7, 7, "S", func(s *appliance.ShadeState) { s.Position = known(appliance.Position(3), 0) }).
		cluster(1, "C", []appliance.ID{7}, []appliance.ID{7}, nil).snapshot()
	h := newHouse(t, s)
	for _, path := range []string{"/svc/api/getLightLevels", "/svc/api/getLightLevels?targetType=2&targetId=1"} {
		var rows []struct{ Id int32 }
		if err := json.Unmarshal([]byte(h.get(path).body), &rows); err != nil {
			t.Fatal(err)
		}
		var got []int32
		for _, r := range rows {
			got = append(got, r.Id)
		}
		want := "[71 72 73 74 75 2000000001]"
		if strings.Contains(path, "targetType") {
			want = "[71 72 73 74 75]"
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got Ids %v, want %v", path, got, want)
		}
	}
}

const (
	nodeRecord1  = `{"id":1,"name":"Downlights","clusterId":1,"clusterName":"Lobby","tagType":"NODE","channelCount":1,"status":"ONLINE","dimLevel":40,"colorLevel":3500,"rgbw":"0:0:0:0","power":12.3,"lastSeen":"2026-03-04T05:06:07Z"}`
	nodeRecord2  = `{"id":2,"name":"Cove \"blue\" \\ ü","clusterId":1,"clusterName":"Lobby","tagType":"NODE","channelCount":1,"status":"ONLINE","dimLevel":80,"colorLevel":0,"rgbw":"1:20:255:0","power":0,"lastSeen":"2026-03-04T05:06:07Z"}`
	nodeRecord3  = `{"id":3,"name":"Meter","clusterId":1,"clusterName":"Lobby","tagType":"PERIPHERAL","channelCount":1,"status":"ONLINE","dimLevel":0,"colorLevel":0,"rgbw":"0:0:0:0","power":-250,"lastSeen":"2026-03-04T05:06:07Z"}`
	nodeRecord4  = `{"id":4,"name":"Dead","clusterId":1,"clusterName":"Lobby","tagType":"NODE","channelCount":1,"status":"OFFLINE","dimLevel":0,"colorLevel":0,"rgbw":"0:0:0:0","power":0,"lastSeen":null}`
	shadeRecord1 = `{"id":5001,"name":"South","nodeId":3,"clusterId":1,"clusterName":"Lobby","shadeLevel":30,"shadeState":"STOPPED","status":"ONLINE","lastSeen":"2026-03-04T05:06:08Z"}`
	shadeRecord2 = `{"id":5002,"name":"West","nodeId":3,"clusterId":1,"clusterName":"Lobby","shadeLevel":0,"shadeState":"UNKNOWN","status":"OFFLINE","lastSeen":"2026-03-04T05:06:08Z"}`
)

func TestContractDiscoveryEndpoints(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for path, want := range map[string]string{
		"getActiveNodes":                                    nodeRecord1 + `,` + nodeRecord2,
		"getNodesForCluster?clusterId=1":                    nodeRecord1 + `,` + nodeRecord2 + `,` + nodeRecord3 + `,` + nodeRecord4,
		"getNodesForCluster?clusterId=1&tagType=ALL":        nodeRecord1 + `,` + nodeRecord2 + `,` + nodeRecord3 + `,` + nodeRecord4,
		"getNodesForCluster?clusterId=1&tagType=NODE":       nodeRecord1 + `,` + nodeRecord2 + `,` + nodeRecord4,
		"getNodesForCluster?clusterId=1&tagType=PERIPHERAL": nodeRecord3,
		"getNodesForCluster?clusterId=2":                    strings.Replace(nodeRecord1, `"clusterId":1,"clusterName":"Lobby"`, `"clusterId":2,"clusterName":"Only lights"`, 1),
		"getShades":                                         shadeRecord1 + `,` + shadeRecord2,
		"getShadesForCluster?clusterId=1":                   shadeRecord1 + `,` + shadeRecord2,
		"getShadesForCluster?clusterId=2":                   "",
	} {
		t.Run(path, func(t *testing.T) { h.get("/svc/api/"+path).want(t, 200, `[`+want+`]`) })
	}
}

func TestContractAuthenticate(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	got := h.send("POST", "/svc/api/authenticate", `{"username":"api_service","password":"correct horse api_service"}`)
	m := regexp.MustCompile(`^\{"responseCode":1,"auth_token":"([\w-]+\.[\w-]+\.[\w-]+)","refresh_token":"(refresh-1)","tokenExpiresOn":"(.*)"\}$`).
		FindStringSubmatch(got.body)
	if got.status != 200 || m == nil {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	expires, err := time.Parse(time.RFC3339, m[3])
	if err != nil {
		t.Fatalf("tokenExpiresOn is not ISO 8601: %v", err)
	}
	now := time.Unix(0, h.clock.wall.Load())
	if d := expires.Sub(now); d < 3599*time.Second || d > 3600*time.Second {
		t.Errorf("the token lives %v, want 3600 s", d)
	}
	if got := h.send("GET", "/svc/api/getClusters", "", "Authorization: Bearer "+m[1]); got.status != 200 {
		t.Errorf("with the token: got %d %s", got.status, got.body)
	}
	if got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("an answer with tokens may be stored: %v", got.header)
	}
}

func TestContractRefreshToken(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	u, _ := h.accounts.User("viewer")
	refresh, _ := h.accounts.NewRefreshToken(t.Context(), u)
	got := h.send("POST", "/svc/api/refreshToken", `{"refresh_token":"`+refresh+`"}`)
	m := regexp.MustCompile(`^\{"status":true,"message":"Token valid","auth_token":"([\w-]+\.[\w-]+\.[\w-]+)"\}$`).FindStringSubmatch(got.body)
	if got.status != 200 || m == nil {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if got := h.send("GET", "/svc/api/getClusters", "", "Authorization: Bearer "+m[1]); got.status != 200 {
		t.Errorf("with the new token: got %d %s", got.status, got.body)
	}
}

func TestContractControlResponse(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for path, body := range controls {
		want := `{"status":1}`
		if path == "/svc/api/shadeControl" {
			want = `{"status":1,"shadeState":"STOPPED"}`
		}
		got := h.post(path, body)
		got.want(t, 200, want)
		if id := got.header.Get("X-Command-Id"); id != "01TEST" {
			t.Errorf("%s: X-Command-Id is %q", path, id)
		}
	}
}

func TestContractControlOperationFailsIsStatus0(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	h.core.answer(func(_ context.Context, cmd appliance.Command) (appliance.Entry, error) {
		e := succeeded(cmd)
		e.Err = "1 of 2 did not confirm: node 4: no answer"
		return e, nil
	})
	for path, body := range controls {
		want := `{"status":0,"message":"1 of 2 did not confirm: node 4: no answer"`
		if path == "/svc/api/shadeControl" {
			want += `,"shadeState":"STOPPED"`
		}
		got := h.post(path, body)
		got.want(t, 200, want+`}`)
		if got.header.Get("X-Command-Id") == "" {
			t.Errorf("%s: no X-Command-Id", path)
		}
	}
}

func TestContractCommands(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	one := appliance.Target{Scope: appliance.One, ID: 1}
	shade := appliance.Target{Scope: appliance.One, ID: 5001}
	rgbw := appliance.RGBW{R: 255, G: 0, B: 7, W: 9}
	for _, c := range []struct {
		path, fields string
		want         appliance.Command
	}{
		{"channelControl", `"command":"ON"`, appliance.Command{Kind: appliance.LightOn}},
		{"channelControl", `"command":"ON","dimLevel":500,"channelId":2`, appliance.Command{Kind: appliance.LightOn, Channel: 2}},
		{"channelControl", `"command":"OFF","channelId":0`, appliance.Command{Kind: appliance.LightOff}},
		{"channelControl", `"command":"DIM","dimLevel":1`, appliance.Command{Kind: appliance.LightLevel, Level: 1}},
		{"channelControl", `"command":"DIM","dimLevel":100`, appliance.Command{Kind: appliance.LightLevel, Level: 100}},
		{"setColorTemp", `"colorTemp":2999`, appliance.Command{Kind: appliance.LightKelvin, Kelvin: 3000}},
		{"setColorTemp", `"colorTemp":3000`, appliance.Command{Kind: appliance.LightKelvin, Kelvin: 3000}},
		{"setColorTemp", `"colorTemp":4321`, appliance.Command{Kind: appliance.LightKelvin, Kelvin: 4321}},
		{"setColorTemp", `"colorTemp":5001`, appliance.Command{Kind: appliance.LightKelvin, Kelvin: 5000}},
		{"setColorTemp", `"colorTemp":-1`, appliance.Command{Kind: appliance.LightKelvin, Kelvin: 3000}},
		{"setColorTemp", `"colorTemp":9007199254740991`, appliance.Command{Kind: appliance.LightKelvin, Kelvin: 5000}},
		{"setRGBW", `"R":255,"G":0,"B":7,"W":9,"DL":0`, appliance.Command{Kind: appliance.LightRGBW, RGBW: rgbw}},
		{"setRGBW", `"R":255,"G":0,"B":7,"W":9,"DL":100`, appliance.Command{Kind: appliance.LightRGBW, RGBW: rgbw, Level: 100}},
		{"setRGBW", `"R":255,"G":0,"B":7,"W":9,"DL":101`, appliance.Command{Kind: appliance.LightRGBW, RGBW: rgbw, KeepLevel: true}},
		{"setRGBW", `"R":255,"G":0,"B":7,"W":9`, appliance.Command{Kind: appliance.LightRGBW, RGBW: rgbw, KeepLevel: true}},
		{"shadeControl", `"command":"UP"`, appliance.Command{Kind: appliance.ShadeOpen}},
		{"shadeControl", `"command":"DOWN","posValue":3`, appliance.Command{Kind: appliance.ShadeClose}},
		{"shadeControl", `"command":"STOP"`, appliance.Command{Kind: appliance.ShadeStop}},
		{"shadeControl", `"command":"POS","posValue":0`, appliance.Command{Kind: appliance.ShadeMoveTo}},
		{"shadeControl", `"command":"POS","posValue":100`, appliance.Command{Kind: appliance.ShadeMoveTo, Position: 100}},
	} {
		t.Run(c.path+" "+c.fields, func(t *testing.T) {
			c.want.Target, c.want.Origin = one, appliance.Origin{Who: "api_service", Via: "public-api"}
			id := "1"
			if c.path == "shadeControl" {
				c.want.Target, id = shade, "5001"
			}
			h.post("/svc/api/"+c.path, `{"targetType":3,"targetId":`+id+`,`+c.fields+`}`)
			if got := h.core.commands(); len(got) != 1 || got[0] != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestContractErrorMissingOrInvalidBearerTokenIs401(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	good := h.token(account.RoleAdmin)
	parts := strings.Split(good, ".")
	bad := map[string][]string{
		"missing":                   nil,
		"empty":                     {"Authorization: "},
		"no scheme":                 {"Authorization: " + good},
		"another scheme":            {"Authorization: Basic " + good},
		"garbage":                   {"Authorization: Bearer x.y.z"},
		"signature cut":             {"Authorization: Bearer " + parts[0] + "." + parts[1] + "."},
		"signature of another part": {"Authorization: Bearer " + parts[0] + "." + parts[1] + "x." + parts[2]},
		"alg none":                  {"Authorization: Bearer eyJhbGciOiJub25lIn0." + parts[1] + "."},
		"two headers":               {"Authorization: Bearer " + good, "Authorization: Bearer " + good},
		"unknown key":               {"Authorization: Bearer ctl_" + strings.Repeat("0", 64)},
		"huge":                      {"Authorization: Bearer " + strings.Repeat("a", 9000)},
		"in the query":              nil,
	}
	for name, headers := range bad {
		t.Run(name, func(t *testing.T) {
			for _, path := range append(strings.Fields(readPaths), "/metrics") {
				if name == "in the query" {
					path += "?access_token=" + good
				}
				h.send("GET", path, "", headers...).want(t, 401, unauthorized)
			}
			for path, body := range controls {
				h.send("POST", path, body, headers...).want(t, 401, unauthorized)
				h.send("POST", path, "garbage", headers...).want(t, 401, unauthorized)
			}
			h.send("POST", "/svc/api/refreshToken", "{}", headers...).want(t, 401, unauthorized)
		})
	}
	if done := h.core.commands(); len(done) != 0 {
		t.Errorf("commands were carried out: %+v", done)
	}
}

func TestContractErrorPermissionInsufficientIs403WithAnEmptyBody(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for _, who := range []string{h.token(account.RoleViewer), h.accounts.key("reader", false)} {
		for path, body := range controls {
			got := h.send("POST", path, body, "Authorization: Bearer "+who)
			got.want(t, 403, "")
			if n := got.header.Get("Content-Length"); n != "0" {
				t.Errorf("%s: Content-Length %q, want 0", path, n)
			}
		}
	}
	// A role that lost its rights while a token was out.
	token := h.token(account.RoleOperator)
	h.accounts.mu.Lock()
	u := h.accounts.users["operator"]
	u.Role = account.RoleNone // without a new revision: the role of the moment counts
	h.accounts.users["operator"] = u
	h.accounts.mu.Unlock()
	h.send("GET", "/svc/api/getClusters", "", "Authorization: Bearer "+token).want(t, 403, "")
	if done := h.core.commands(); len(done) != 0 {
		t.Errorf("commands were carried out: %+v", done)
	}
}

func TestContractErrorBadCredentialsIsAuthFailed(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for _, body := range []string{
		`{"username":"admin","password":"wrong"}`, `{"username":"nobody","password":"wrong"}`,
		`{"username":"","password":""}`, `{"username":"none","password":"correct horse none"}`,
		`{"username":"admin","password":"` + strings.Repeat("x", 5000) + `"}`,
	} {
		h.send("POST", "/svc/api/authenticate", body).want(t, 200, authFailure)
	}
}

func TestContractMethods(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	for _, path := range strings.Fields(readPaths) {
		got := h.post(path, "{}")
		got.want(t, 405, `{"status":0,"message":"method not allowed here; see the Allow header"}`)
		if allow := got.header.Get("Allow"); !strings.Contains(allow, "GET") || strings.Contains(allow, "POST") {
			t.Errorf("%s: Allow is %q", path, allow)
		}
		full, head := h.get(path), h.send("HEAD", path, "", "Authorization: Bearer "+h.token(account.RoleViewer))
		if head.status != 200 || head.body != "" || head.header.Get("Content-Length") != full.header.Get("Content-Length") {
			t.Errorf("HEAD %s: got %d %q, Content-Length %s, want %s", path, head.status, head.body,
				head.header.Get("Content-Length"), full.header.Get("Content-Length"))
		}
	}
	for path := range controls {
		for _, method := range []string{"GET", "PUT", "DELETE", "PATCH", "HEAD"} {
			if got := h.send(method, path, ""); got.status != 405 || !strings.Contains(got.header.Get("Allow"), "POST") {
				t.Errorf("%s %s: got %d, Allow %q", method, path, got.status, got.header.Get("Allow"))
			}
		}
		got := h.send("OPTIONS", path, "", "Origin: https://elsewhere.example", "Access-Control-Request-Method: POST")
		if got.status != http.StatusNoContent || got.header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("OPTIONS %s: got %d, Allow %q", path, got.status, got.header.Get("Allow"))
		}
		if cors := got.header.Get("Access-Control-Allow-Origin"); cors != "" {
			t.Errorf("OPTIONS %s lets other origins in: %q", path, cors)
		}
	}
	for _, path := range []string{"/svc/api/getclusters", "/svc/api/", "/svc/api/nothing", "/svc/api/getClusters/1", "/../etc/passwd"} {
		h.get(path).want(t, 404, `{"status":0,"message":"no such endpoint"}`)
	}
}
