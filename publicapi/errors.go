package publicapi

import (
	"net/http"

	"svc.internal/controller/shelf/account/bearer"
)

// Errors is what the core's errors mean to whoever asked.
var Errors = bearer.Errors(http.StatusBadRequest)
