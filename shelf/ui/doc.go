// Package ui is the shelf that the pages of the controller and of the platform
// share: one style sheet, small components, and the way they are served.
//
// There is no build step. A page is plain ES modules, written against preact, htm
// and signals (assets/vendor, upstream's files, see vendor.sh), and what is edited
// is what the browser runs, less indentation and the lines that are comments. All modules of a program,
// these and its own, lie in one folder /a/<hash>/ whose name is the hash of everything in it: ui/ holds what is
// here, app/ what the program adds. app/app.js comes with all that it imports in one answer, each module a function in it
// that begins with the module's name (packed.go); what a page fetches later comes module by module. So a module that belongs
// to the first view is imported as usual, names that change after they were imported ("export let") only by later ones.
//
// # How a program gets pages
//
// It embeds a folder of its own with at least app.js and serves it:
//
//	//go:embed app
//	var files embed.FS
//
//	app, err := fs.Sub(files, "app")
//	pages, err := ui.New(ui.Options{App: app, Title: "Controller"})
//	e.GET("/a/*", echo.WrapHandler(pages.Assets()))   // modules, style, icons: immutable
//	e.GET("/login", echo.WrapHandler(pages.Shell()))  // the same shell for each page it has
//
// The shell is public and the same for everybody. It loads app/app.js, which asks the
// program's API who is logged in and draws the page that the address names.
// A program without pages of its own calls New with no App and links to ui/style.css.
//
// # What app.js finds here
//
//	lib.js      html, hooks, signals: everything a component needs
//	i18n.js     t("key", {n: 3}), languages, numbers, dates, ages; addTexts adds a program's catalogue
//	router.js   addresses to pages without reload; title and focus as screen readers need them
//	shell.js    header, tabs (phone) or rail (desktop), banners, announcements with undo
//	stream.js   the server's events with retry and watchdog of our own; the server's clock
//	asked.js    what was asked and what is confirmed, kept apart; commands coalesced
//	slider.js   a range that does not react to a scrolling thumb
//	light.js, shade.js   cards and controls of one light, cluster, shade
//	form.js     fields, validation, errors of RFC 9457 in one summary
//	dialog.js   questions before something that cannot be undone
//	jobs.js     the bar of what is under way
//	spark.js    a line of values, without axes
//	heat.js     a map of values by hour
//	icons.js    shapes of the states, drawn in one stroke width
//	api.js      requests, errors as people read them, conflicts (412), waiting (429, 503)
//
// # Rules that the tests keep
//
// Content-Security-Policy is [Policy]; nothing is loaded from elsewhere; no style=
// attribute (an object given to htm is fine). Catalogues of all languages have the same keys
// (uitest.CheckTexts). Every control is 44 px or more. Budgets of bytes are asserted by whoever
// serves pages, with [Pages.Weight]. The gallery in testdata shows all components in every state;
// browser tests look at it with axe-core, in both colour schemes and both languages.
package ui

//go:generate ./vendor.sh
