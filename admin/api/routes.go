package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// route is one thing that this door does. The table of them is the role matrix, and
// what the description at /api/v1/openapi.json is made from.
type route struct {
	method, path string
	needs        permission
	about        string
	in, out      any // values of the types of the bodies, a [file] or [either]; nil: none
	status       int // of success
	handle       echo.HandlerFunc
	query        []query
}

// file is a body that is no JSON, by its media type.
type file string

// either is a body of one kind or another, as was asked for.
type either []any

// goesOn reports whether the answer is a stream of events, which have bounds of their own.
func (r route) goesOn() bool {
	return strings.HasSuffix(r.path, "/events") || strings.HasSuffix(r.path, "/monitor")
}

// query is what may stand behind the question mark.
type query struct{ name, about string }

// routes lists all that this door does.
func (a *API) routes() []route {
	const get, post = http.MethodGet, http.MethodPost
	const put, patch, del = http.MethodPut, http.MethodPatch, http.MethodDelete
	ok, made, none := http.StatusOK, http.StatusCreated, http.StatusNoContent
	replace := []query{{"replace", "true: retire what the file does not mention; else it stays."}}
	return []route{
		{get, "/claim", anyone, "Whether the controller is still to be claimed", nil, ClaimState{}, ok, a.claimState, nil},
		{post, "/claim", anyone, "Make the first user with the one-time claim code", ClaimRequest{}, Session{}, ok, a.claim, nil},
		{post, "/claim/restore", anyone, "Restore a backup, which is the body, to a controller that is still to be claimed, with the one-time claim code in the header Claim-Code; who has an account in the backup logs in then", file("application/octet-stream"), Drilled{}, http.StatusAccepted, a.restoreUnclaimed, nil},
		{post, "/auth/login", anyone, "Log in", Login{}, Session{}, ok, a.login, nil},
		{post, "/auth/refresh", anyone, "Replace the tokens of a program", Refresh{}, Session{}, ok, a.refresh, nil},
		{post, "/auth/logout", anyone, "End a session", Logout{}, nil, none, a.logout, nil},
		{get, "/session", reader, "Who is logged in", nil, Session{}, ok, a.session, nil},

		{post, "/auth/password", reader, "Change one's own password", PasswordChange{}, nil, none, a.changePassword, nil},
		{get, "/auth/users", admin, "All users", nil, []User{}, ok, a.users, nil},
		{post, "/auth/users", admin, "Make a user, of /svc/api too", NewUser{}, User{}, made, a.createUser, nil},
		{get, "/auth/users/:user", admin, "One user, by name, UUID or ID", nil, User{}, ok, a.showUser, nil},
		{patch, "/auth/users/:user", admin, "Change password or role; the last admin stays one", UserEdit{}, User{}, ok, a.editUser, nil},
		{del, "/auth/users/:user", admin, "Remove a user; the last admin stays", nil, nil, none, a.removeUser, nil},
		{get, "/auth/keys", admin, "All API keys of /svc/api", nil, []Key{}, ok, a.keys, nil},
		{post, "/auth/keys", admin, "Make an API key; it is told this once", NewKey{}, Key{}, made, a.createKey, nil},
		{post, "/auth/takeover", admin, "Take over at once what a command changed of users and keys in the database", nil, nil, none, a.takeOverAccounts, nil},
		{del, "/auth/keys/:key", admin, "Remove an API key", nil, nil, none, a.removeKey, nil},

		{get, "/site", reader, "Name, settings and faults of the site", nil, Site{}, ok, a.site, nil},
		{get, "/clusters", reader, "All clusters", nil, []Cluster{}, ok, a.clusters, nil},
		{get, "/clusters/:id", reader, "One cluster, by ID or UUID", nil, Cluster{}, ok, a.cluster, nil},
		{get, "/nodes", reader, "All nodes", nil, []Node{}, ok, a.nodes, nil},
		{get, "/nodes/:id", reader, "One node, by ID or UUID", nil, Node{}, ok, a.node, nil},
		{get, "/shades", reader, "All shades", nil, []Shade{}, ok, a.shades, nil},
		{get, "/shades/:id", reader, "One shade, by ID or UUID", nil, Shade{}, ok, a.shade, nil},
		{get, "/buses", reader, "All buses", nil, []Bus{}, ok, a.buses, nil},
		{get, "/ports", reader, "The serial ports that are there, and which bus is on each", nil, []Port{}, ok, a.ports, nil},
		{get, "/buses/:bus", reader, "One bus with its devices, by name or UUID", nil, BusDetail{}, ok, a.bus, nil},

		{patch, "/site", admin, "Change name and settings of the site; needs If-Match", SiteEdit{}, Site{}, ok, a.editSite, nil},
		{get, "/site/file", reader, "The site as a whole, with all IDs: YAML to be edited and imported", nil, file("application/yaml"), ok, a.siteFile, nil},
		{put, "/site/file", admin, "Take over a site file, which is the body, all of it or nothing; needs If-Match, of the file or of a preview", file("application/yaml"), SiteReport{}, ok, a.importSite, replace},
		{post, "/site/file/preview", admin, "Tell what a site file, which is the body, would change: old and new, and what would be retired", file("application/yaml"), SiteReport{}, ok, a.previewSite, replace},
		{get, "/attention", reader, "What needs somebody, and who has put it aside", nil, Attention{}, ok, a.attention, nil},
		{post, "/attention/aside", operator, "Put aside what needs somebody until it happens anew, or take that back", AsideEdit{}, Concern{}, ok, a.putAside, nil},
		{get, "/floors", reader, "All floors from the bottom up, with their clusters and plans", nil, []Floor{}, ok, a.floors, nil},
		{post, "/floors", operator, "Make a floor", FloorEdit{}, Floor{}, made, a.createFloor, nil},
		{get, "/floors/:floor", reader, "One floor, by name", nil, Floor{}, ok, a.floor, nil},
		{patch, "/floors/:floor", operator, "Change a floor; needs If-Match", FloorEdit{}, Floor{}, ok, a.editFloor, nil},
		{del, "/floors/:floor", operator, "Remove a floor with its plan; its clusters stay; needs If-Match", nil, nil, none, a.removeFloor, nil},
		{get, "/floors/:floor/picture", reader, "The picture of a floor's plan, to be shown as an image", nil, either{file("image/svg+xml"), file("image/png"), file("image/jpeg")}, ok, a.showPicture, []query{{"picture", "Its name, from the plan: the answer may then be kept for ever."}}},
		{put, "/floors/:floor/picture", operator, "Give a floor a plan, or its plan another picture, which is the body: PNG, JPEG or SVG of at most 512 KiB; needs If-Match", either{file("image/svg+xml"), file("image/png"), file("image/jpeg")}, Floor{}, ok, a.putPicture, nil},
		{patch, "/floors/:floor/plan", operator, "Put things onto the plan of a floor, or take them off; needs If-Match, which may be *: only what is named changes", Arrangement{}, Floor{}, ok, a.arrange, nil},
		{del, "/floors/:floor/plan", operator, "Remove the plan of a floor; needs If-Match", nil, Floor{}, ok, a.removePlan, nil},
		{post, "/clusters", operator, "Make a cluster", ClusterEdit{}, Cluster{}, made, a.createCluster, nil},
		{patch, "/clusters/:id", operator, "Change a cluster; needs If-Match", ClusterEdit{}, Cluster{}, ok, a.editCluster, nil},
		{del, "/clusters/:id", operator, "Remove a cluster; its members stay, its ID is never used again; needs If-Match", nil, nil, none, a.removeCluster, nil},
		{post, "/nodes", operator, "Make a node", NodeEdit{}, Node{}, made, a.createNode, nil},
		{patch, "/nodes/:id", operator, "Change a node; another address replaces its device; needs If-Match", NodeEdit{}, Node{}, ok, a.editNode, nil},
		{del, "/nodes/:id", operator, "Remove a node; its ID is never used again; needs If-Match", nil, nil, none, a.removeNode, nil},
		{post, "/shades", operator, "Make a shade", ShadeEdit{}, Shade{}, made, a.createShade, nil},
		{patch, "/shades/:id", operator, "Change a shade; needs If-Match", ShadeEdit{}, Shade{}, ok, a.editShade, nil},
		{del, "/shades/:id", operator, "Remove a shade; its ID is never used again; needs If-Match", nil, nil, none, a.removeShade, nil},
		{post, "/buses", operator, "Make a bus", BusEdit{}, BusDetail{}, made, a.createBus, nil},
		{patch, "/buses/:bus", operator, "Change a bus; needs If-Match", BusEdit{}, BusDetail{}, ok, a.editBus, nil},
		{post, "/buses/:bus/devices", operator, "Make the outputs of a device lights and shades, or divide them otherwise, all of it or nothing: what stays keeps its ID, and what comes back has the one it had", DeviceEdit{}, DeviceMade{}, ok, a.divideDevice, nil},
		{del, "/buses/:bus", operator, "Remove a bus without nodes; needs If-Match", nil, nil, none, a.removeBus, nil},

		{get, "/scenes", reader, "All scenes", nil, []Scene{}, ok, a.scenes, nil},
		{post, "/scenes", operator, "Make a scene, of actions or of how its cluster is now", SceneEdit{}, Scene{}, made, a.createScene, nil},
		{get, "/scenes/:id", reader, "One scene, by ID or UUID", nil, Scene{}, ok, a.scene, nil},
		{patch, "/scenes/:id", operator, "Change a scene; needs If-Match", SceneEdit{}, Scene{}, ok, a.editScene, nil},
		{del, "/scenes/:id", operator, "Remove a scene that no rule recalls; needs If-Match", nil, nil, none, a.removeScene, nil},
		{post, "/scenes/:id/recall", operator, "Recall a scene; answers when the outcome is known", nil, Done{}, ok, a.recall, nil},
		{get, "/rules", reader, "All rules, with when they act next and acted last", nil, []Rule{}, ok, a.rules, nil},
		{post, "/rules", operator, "Make a rule", RuleEdit{}, Rule{}, made, a.createRule, nil},
		{get, "/rules/:id", reader, "One rule, by ID or UUID", nil, Rule{}, ok, a.rule, nil},
		{patch, "/rules/:id", operator, "Change a rule; needs If-Match", RuleEdit{}, Rule{}, ok, a.editRule, nil},
		{del, "/rules/:id", operator, "Remove a rule; its ID is never used again; needs If-Match", nil, nil, none, a.removeRule, nil},
		{post, "/rules/:id/try", operator, "Do now what a rule does; answers when the outcome is known", nil, Done{}, ok, a.tryRule, nil},
		{post, "/rules/trial", operator, "When a rule would have had reason to act by the history, which is kept as it is; nothing is done", RuleEdit{}, Trial{}, ok, a.trial, []query{
			{"days", "How many days back; 14 if left out, up to 35."}}},
		{get, "/runs", reader, "What rules did since the start, newest first, up to 200", nil, []Run{}, ok, a.runs, nil},
		{get, "/schedule", reader, "What is due by clock and sun", nil, Schedule{}, ok, a.schedule, []query{{"days", "How many days ahead; 14 if left out, up to 31."}}},
		{get, "/overrides", reader, "What rules leave alone now because somebody set it by hand", nil, []Override{}, ok, a.overrides, nil},
		{del, "/clusters/:id/override", operator, "Let rules act on a cluster again, whatever was set by hand", nil, nil, none, a.release, nil},

		{get, "/buses/:bus/frames", reader, "The last frames of a bus, from its flight recorder", nil, []Frame{}, ok, a.frames, nil},
		{get, "/buses/:bus/recording", reader, "The same as a recording, to be decoded or played elsewhere; what looks like a secret is hidden", nil, file("application/jsonl"), ok, a.recording, nil},
		{get, "/buses/:bus/monitor", reader, "The frames that pass on a bus, as server-sent events of the kind frame", nil, Frame{}, ok, a.monitor, nil},
		{get, "/buses/:bus/groups", reader, "Which groups the devices of a bus hold and should hold", nil, Groups{}, ok, a.groups, nil},
		{get, "/profiles", reader, "The built-in profiles, which tell what a device is", nil, []Profile{}, ok, a.profiles, []query{{"driver", "Only those of this driver."}}},
		{get, "/buses/:bus/services", reader, "What the driver of a bus does for an installer", nil, []Service{}, ok, a.services, nil},
		{get, "/backup", admin, "Everything as one file; it holds secrets", nil, file("application/octet-stream"), ok, a.backup, nil},
		{get, "/backup/nightly", admin, "The backups that are made by themselves: when the newest was, and whether the last try failed", nil, NightlyBackups{}, ok, a.nightlyBackups, nil},
		{get, "/backup/offsite", admin, "The copies of backups that leave the box by themselves, encrypted, and how it stands with them", nil, OffsiteBackups{}, ok, a.offsite, nil},
		{put, "/backup/offsite", admin, "Say to whose key, and to where, copies of backups leave the box", OffsiteEdit{}, OffsiteBackups{}, ok, a.setOffsite, nil},
		{post, "/backup/offsite/try", admin, "Begin to make a copy in each place now; GET tells when it is over, and what became of it", nil, OffsiteBackups{}, http.StatusAccepted, a.tryOffsite, nil},
		{post, "/backup/drill", admin, "Try whether a backup, which is the body, can be restored; nothing is changed", file("application/octet-stream"), Drilled{}, ok, a.drillBackup, nil},
		{post, "/backup/restore", admin, "Restore a backup, which is the body, in the place of everything; the controller begins anew, and all log in again", file("application/octet-stream"), Drilled{}, http.StatusAccepted, a.restoreBackup, nil},

		{get, "/migrations", admin, "Houses of other controllers that were taken over, newest first", nil, []Migration{}, ok, a.migrations, nil},
		{post, "/migrations/certificate", admin, "Look which certificate another controller shows; nothing else is asked of it", ControllerAddress{}, ControllerShown{}, ok, a.shown, nil},
		{post, "/migrations/preview", admin, "Begin to read the house of another controller, as a job; nothing is changed here or there", MigrationSource{}, Job{}, http.StatusAccepted, a.readOther, nil},
		{get, "/migrations/preview", admin, "What taking over the house that was read last would do", nil, MigrationPreview{}, ok, a.preview, nil},
		{post, "/migrations", admin, "Take over the house that was read, all of it or nothing; a backup is made before", MigrationStart{}, Migrated{}, ok, a.takeOver, nil},
		{post, "/migrations/:id/undo", admin, "Take a migration back", MigrationUndo{}, nil, none, a.undoMigration, nil},

		{get, "/update", reader, "What runs, and how the last update ended", nil, UpdateStatus{}, ok, a.update, nil},
		{post, "/update", admin, "Install a signed bundle, which is the body; the controller starts anew", file("application/octet-stream"), UpdateStatus{}, http.StatusAccepted, a.install, nil},
		{post, "/update/fetch", admin, "Fetch a signed bundle from an address and install it", UpdateSource{}, UpdateStatus{}, http.StatusAccepted, a.fetch, nil},

		{get, "/network", admin, "How the box is in the network, and how it stands with what was set", nil, Network{}, ok, a.network, nil},
		{put, "/network", admin, "Try another network: it goes back by itself unless POST keep comes over it in time; GET tells", NetworkSetting{}, Network{}, http.StatusAccepted, a.setNetwork, nil},
		{post, "/network/keep", admin, "Keep the network that is tried; only over its address", nil, Network{}, http.StatusAccepted, a.keepNetwork, nil},

		{get, "/certificate", reader, "The certificate that this controller shows", nil, Certificate{}, ok, a.certificate, nil},
		{get, "/certificate/pem", reader, "The same as a file, for clients to trust", nil, file("application/x-pem-file"), ok, a.certificateFile, nil},
		{put, "/certificate", admin, "Replace the certificate and its key; new connections get it at once", NewCertificate{}, Certificate{}, ok, a.replaceCertificate, nil},
		{get, "/health", reader, "How the controller itself does", nil, Health{}, ok, a.health, nil},
		{get, "/logs", admin, "The last lines of the log, newest first", nil, []LogLine{}, ok, a.logs, []query{
			{"level", "Of this level and above, such as WARN."}, {"contains", "That hold this text, in large or small letters."},
			{"since", "Written at or after this time."}, {"after", "Those after this ID, to follow the log."}, {"limit", "At most so many; 200 if left out, up to 1500."}}},
		{get, "/diagnostics", admin, "What somebody needs who looks for a fault from afar, as one file without secrets", nil, file("application/zip"), ok, a.diagnostics, nil},

		{get, "/ledger", reader, "Commands and what became of them, newest first", nil, []Entry{}, ok, a.ledger, []query{
			{"node", "That addressed this node."}, {"shade", "That addressed this shade."}, {"cluster", "That addressed this cluster."},
			{"members", "That addressed a member of this cluster, whatever their target."},
			{"who", "Of this user, key or rule."}, {"via", "Through this door, such as public-api."}, {"failed", "true: only those that failed."},
			{"given", "true: only what somebody or a rule gave, not what shades order on their way."},
			{"from", "Accepted at or after this time, or day of the building."}, {"to", "Accepted before this time or day."},
			{"before", "Those before this entry, to page on."}, {"limit", "At most so many; 50 if left out, up to 1000."}}},
		{get, "/ledger/:id", reader, "One command with the frames that passed meanwhile", nil, EntryDetail{}, ok, a.entry, nil},
		{get, "/audit", reader, "Changes that people made, newest first; what is about users, keys and backups for admins only", nil, []Audit{}, ok, a.audits, []query{
			{"before", "Those before this ID, to page on."}, {"limit", "At most so many; 100 if left out, up to 1000."}}},

		{get, "/history", reader, "How level, power, position and reachability of things were, in the last five weeks at most", nil, either{Past{}, file("text/csv")}, ok, a.past, []query{
			{"node", "Of this node."}, {"shade", "Of this shade."}, {"cluster", "Of the members of this cluster; with none of these three of everything."},
			{"aspect", "level, power, position or online, or several with commas between; all if left out."},
			{"from", "From this day of the building, or time, on; today if left out."}, {"to", "Until this day or time, which is not part of it; now if left out."},
			{"step", "Means over steps of this length, counted from midnight, such as 15m, 1h or 1d; every change if left out."},
			{"together", "true, with a step: all as one, of level and position the mean, of power the sum of what is known."},
			{"format", "csv: as lines for a spreadsheet."}}},
		{get, "/history/power", reader, "What was used in each hour, by meter and floor", nil, PowerPast{}, ok, a.powerPast, []query{
			{"from", "From this day of the building on; six days before today if left out."}, {"to", "Until this day, which is not part of it; now if left out."}}},

		{post, "/commands", operator, "Command lights or shades; answers when the outcome is known", Command{}, Entry{}, ok, a.do, nil},
		{get, "/events", reader, "Everything that happens, as server-sent events: picture, then change, ports, entry, job, lost, tick", nil, Picture{}, ok, a.events, nil},

		{get, "/jobs", reader, "Long work under way, and the last 64 that ended", nil, []Job{}, ok, a.jobs, nil},
		{post, "/jobs", operator, "Begin long work; 409 if its subject has some under way", JobRequest{}, Job{}, http.StatusAccepted, a.startJob, nil},
		{get, "/jobs/:id", reader, "One job with all it found out", nil, Job{}, ok, a.job, nil},
		{get, "/jobs/:id/events", reader, "A job as it goes on, as server-sent events of the kind job, until it is over", nil, Job{}, ok, a.jobEvents, nil},
		{del, "/jobs/:id", operator, "Cancel a job", nil, Job{}, http.StatusAccepted, a.cancelJob, nil},
		{post, "/jobs/:id/answer", operator, "Answer the question of a job", JobAnswer{}, nil, none, a.answerJob, nil},

		{get, "/openapi.json", anyone, "This description", nil, map[string]any{}, ok, a.openAPI, nil},
	}
}
