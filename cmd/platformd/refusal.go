package main

import (
	"encoding/json"
	"net/http"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/voice"
	"svc.internal/controller/shelf/web"
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

// details that MCP clients get with a refusal, whatever the reason was; else they are the status in words.
var details = map[int]string{
	http.StatusUnauthorized: "Send an active API key in the header X-API-Key",
}

// refusal words every answer that is not a success. MCP has a shape of its own.
func refusal(path string, status int, message string) (contentType string, body []byte) {
	if path == mcpPath {
		more, ok := details[status]
		if !ok {
			more = http.StatusText(status)
		}
		return web.JSONType[0], encoded(struct {
			Error   string `json:"error"`
			Details string `json:"details"`
		}{message, more})
	}
	if path == voice.Path && status != http.StatusTooManyRequests {
		return web.JSONType[0], encoded(struct {
			Success bool   `json:"success"`
			Message string `json:"message"`
		}{false, message})
	}
	return web.JSONType[0], encoded(struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
		Message string `json:"message"`
	}{false, http.StatusText(status), message})
}

func encoded(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil { // strings alone always can be
		panic(err)
	}
	return body
}
