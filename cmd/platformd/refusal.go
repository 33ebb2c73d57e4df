package main

import (
	"encoding/json"
	"net/http"

	"svc.internal/controller/platform"
	"svc.internal/controller/web"
)

// statuses is the one table from errors to HTTP.
var statuses = web.Table{
	{Err: platform.ErrNotFound, Status: http.StatusNotFound},
	{Err: platform.ErrInvalid, Status: http.StatusBadRequest},
	{Err: platform.ErrExists, Status: http.StatusConflict},
	{Err: platform.ErrConflict, Status: http.StatusConflict},
	{Err: platform.ErrUnauthorized, Status: http.StatusUnauthorized},
	{Err: platform.ErrOverloaded, Status: http.StatusServiceUnavailable},
	{Err: platform.ErrOffline, Status: http.StatusServiceUnavailable},
}

// mcpPath has error bodies of its own, as the contract says.
const mcpPath = "/api/assistant/mcp"

// refusal words every answer that is not a success.
func refusal(path string, status int, message string) (contentType string, body []byte) {
	var v any
	if path == mcpPath {
		v = struct {
			Error   string `json:"error"`
			Details string `json:"details"`
		}{http.StatusText(status), message}
	} else {
		v = struct {
			Success bool   `json:"success"`
			Error   string `json:"error"`
			Message string `json:"message"`
		}{false, http.StatusText(status), message}
	}
	body, err := json.Marshal(v)
	if err != nil { // strings alone always can be
		panic(err)
	}
	return web.JSONType[0], body
}
