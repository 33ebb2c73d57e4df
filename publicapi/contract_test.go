package publicapi

import (
	"testing"

	"svc.internal/controller/appliance"
)

func TestGetLightLevels(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	all := `[{"Id":11,"ClusterId":1,"NodeId":1,"value":"40","valueType":"DIM_LEVEL","Synchronize":"","AllVal":""},` +
		`{"Id":12,"ClusterId":1,"NodeId":1,"value":"3500","valueType":"COLOR_LEVEL","Synchronize":"","AllVal":""},` +
		`{"Id":15,"ClusterId":1,"NodeId":1,"value":"12.3","valueType":"PPOWER","Synchronize":"","AllVal":""},` +
		`{"Id":21,"ClusterId":1,"NodeId":2,"value":"80","valueType":"DIM_LEVEL","Synchronize":"","AllVal":""},` +
		`{"Id":23,"ClusterId":1,"NodeId":2,"value":"1:20:255:0","valueType":"COLOR","Synchronize":"","AllVal":""},` +
		`{"Id":35,"ClusterId":1,"NodeId":3,"value":"-250","valueType":"PPOWER","Synchronize":"","AllVal":""},` +
		`{"Id":50014,"ClusterId":1,"NodeId":5001,"value":"30","valueType":"SHADE_LEVEL","Synchronize":"","AllVal":""}]`
	h.get("/svc/api/getLightLevels").want(t, 200, all)
	h.get("/svc/api/getLightLevels?targetType=1&targetId=0").want(t, 200, all)
	h.get("/svc/api/getLightLevels?targetType=2&targetId=1").want(t, 200, all)
}

func TestAuthenticate(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	got := h.send("POST", "/svc/api/authenticate", `{"username":"api_service","password":"correct horse api_service"}`)
	if got.status != 200 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	h.send("POST", "/svc/api/authenticate", `{"username":"api_service","password":"wrong"}`).
		want(t, 200, `{"responseCode":0,"errorCode":"AuthFailed"}`)
	_ = appliance.RoleAPIService
}
