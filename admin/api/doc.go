// Package api is the door for whoever sets up and runs the building: /api/v1.
//
// It serves the web pages of the controller, programs of installers, and, over the
// socket in the data directory, the commands of controllerd itself, all in the same
// words. Its description is made from the table of its routes (routes.go), and served
// at /api/v1/openapi.json.
//
// Programs log in for a bearer token that lasts an hour and a refresh token that is
// replaced at each use. Browsers keep a cookie that no script can read; requests that
// change something are refused when they come from a page of another origin. No token
// of /svc/api is good here, and none of here is good there.
package api
