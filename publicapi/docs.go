package publicapi

import "github.com/labstack/echo/v4"

func (a *API) registerDocs(e *echo.Echo) {}
