package main

import (
	"archive/zip"
	"io"
	"net/url"
	"strings"
	"testing"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
)

// bundle is what an administrator downloads for a device, by name.
func (e *estate) bundle(id string) map[string]string {
	e.t.Helper()
	a := e.admin.api("GET", "/api/conferencing/devices/"+url.PathEscape(id)+"/bundle", "").want(e.t, 200, "download the bundle")
	if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Content-Type") != "application/zip" {
		e.t.Errorf("the bundle comes with %v", a.Header)
	}
	z, err := zip.NewReader(strings.NewReader(a.text), int64(len(a.text)))
	if err != nil {
		e.t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			e.t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			e.t.Fatal(err)
		}
		files[f.Name] = string(b)
	}
	return files
}

func TestThePlatformKnowsWhichMacroADeviceRuns(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	told := func() any {
		t.Helper()
		return e.admin.api("GET", "/api/conferencing/devices/lobby", "").want(t, 200, "read the device").member("data.macroVersion")
	}
	tell := func(version string) {
		t.Helper()
		e.ask("GET", "/api/conferencing/panels/lobby?macro="+url.QueryEscape(version), "", "Authorization: Bearer "+code).want(t, 200, "a macro asks")
	}
	if told() != nil {
		t.Errorf("without a macro it is told %v", told())
	}
	for _, nonsense := range []string{"", "-1", "0", "two", "99999999999999999999", "1 OR 1"} {
		if tell(nonsense); told() != nil {
			t.Errorf("%q counts as %v", nonsense, told())
		}
	}
	tell("7")
	if told() != 7.0 {
		t.Errorf("it is told %v, want 7", told())
	}
	e.ask("GET", "/api/conferencing/panels/lobby?macro=8", "", "Authorization: Bearer wrong").want(t, 401, "a stranger asks")
	if told() != 7.0 {
		t.Errorf("a stranger made it %v", told())
	}
	if newest := e.admin.api("GET", "/api/conferencing/devices/lobby", "").member("data.macroNewest"); newest != float64(panel.MacroVersion) {
		t.Errorf("the newest is told as %v", newest)
	}
	e.admin.api("DELETE", "/api/conferencing/devices/lobby/deploy", "").want(t, 200, "withdraw")
	e.admin.api("POST", "/api/conferencing/devices/lobby/deploy", "").want(t, 200, "deploy")
	if told() != nil {
		t.Errorf("the macro of the old code counts as %v", told())
	}
}

func TestABundleIsForAdministratorsAndWholeOnlyWhenThePanelIsDeployed(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	const device = "/api/conferencing/devices/lobby"
	e.admin.api("POST", "/api/conferencing/devices", `{"deviceId":"lobby","workspaceName":"Lobby","controllerId":"rooms","clusterIds":[1]}`).want(t, 201, "enter a device")
	if a := e.admin.api("GET", device+"/bundle", "").want(t, 409, "a bundle without a code"); !strings.Contains(a.text, "deploy it") {
		t.Errorf("it was told %s", a.text)
	}
	code := e.admin.api("POST", device+"/deploy", "").want(t, 200, "deploy").str("data.panelCode")
	kit := e.bundle("lobby")
	for name, want := range map[string]string{
		"platformControls.js":  `const code = "` + code + `";`,
		"platformControls.xml": "<Name>Lobby</Name>",
		"README.txt":           e.daemon.cert.Fingerprint(),
		"platform.pem":         strings.TrimSpace(string(e.daemon.cert.PEM())),
	} {
		if !strings.Contains(kit[name], want) {
			t.Errorf("%s lacks %s:\n%s", name, want, kit[name])
		}
	}
	if !strings.Contains(kit["platformControls.js"], `const platform = "`+e.url+`";`) {
		t.Error("the macro asks another platform")
	}
	a := e.admin.api("GET", device+"/bundle?platform=https://rooms.example", "").want(t, 200, "a bundle by another address")
	if disposition := a.Header.Get("Content-Disposition"); disposition != "attachment; filename=panel-lobby.zip" {
		t.Errorf("the file is %s", disposition)
	}
	for _, wrong := range []string{"http://rooms.example", "rooms.example", "https://", "https://u:p@rooms.example", "https://rooms.example/path", "https://rooms.example?x=1", "javascript:alert(1)"} {
		e.admin.api("GET", device+"/bundle?platform="+url.QueryEscape(wrong), "").want(t, 400, "a bundle for "+wrong)
	}
	e.newPerson("bob", platform.RoleUser).api("GET", device+"/bundle", "").want(t, 403, "a bundle for everybody")
	e.ask("GET", device+"/bundle", "", "Authorization: Bearer "+code).want(t, 401, "a bundle for the panel's code")
	e.ask("GET", device+"/bundle?code="+code, "").want(t, 401, "a bundle for the panel's code in the address")
}
