package publicapi

import (
	"net/http"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// Errors is what the core's errors mean to whoever asked.
var Errors = web.Table{
	{Err: appliance.ErrNotFound, Status: http.StatusNotFound},
	{Err: appliance.ErrOutOfRange, Status: http.StatusBadRequest},
	{Err: account.ErrExists, Status: http.StatusConflict},
	{Err: appliance.ErrUnable, Status: http.StatusConflict},
	{Err: appliance.ErrSuperseded, Status: http.StatusConflict},
	{Err: account.ErrAuthFailed, Status: http.StatusUnauthorized},
	{Err: account.ErrNotKept, Status: http.StatusInsufficientStorage},
	{Err: appliance.ErrOverloaded, Status: http.StatusServiceUnavailable},
	{Err: appliance.ErrBusDown, Status: http.StatusServiceUnavailable},
	{Err: appliance.ErrUnreachable, Status: http.StatusBadGateway},
	{Err: appliance.ErrSilent, Status: http.StatusBadGateway},
	{Err: appliance.ErrDamaged, Status: http.StatusBadGateway},
	{Err: appliance.ErrRefused, Status: http.StatusBadGateway},
	{Err: appliance.ErrBusy, Status: http.StatusBadGateway},
	{Err: appliance.ErrMismatch, Status: http.StatusBadGateway},
	{Err: appliance.ErrExpired, Status: http.StatusGatewayTimeout},
}
