package bearer

import (
	"net/http"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/web"
)

// Errors is what the core's and the accounts' errors mean to whoever asked at a door of the controller. A value outside its
// bounds is answered with outOfRange: doors differ in what they promise of it.
func Errors(outOfRange int) web.Table {
	return web.Table{
		{Err: appliance.ErrNotFound, Status: http.StatusNotFound},
		{Err: appliance.ErrOutOfRange, Status: outOfRange},
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
}
