// Package pages is the controller's web pages, for whoever sets up and runs the
// building. They are made with package ui, speak /api/v1 and nothing else, and hold
// no secret: everybody may load them, and the API decides who sees what.
//
// app/app.js starts them; app/house.js holds what the server's events tell of the
// building; every other file is one page or a part of several.
package pages
