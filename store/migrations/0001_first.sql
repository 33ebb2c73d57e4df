-- One file per controller. Times are nanoseconds since 1970 UTC, 0 = never.
-- Lists and maps that only the core reads are JSON text.

CREATE TABLE site (
	only          INTEGER PRIMARY KEY CHECK (only = 1),
	name          TEXT    NOT NULL DEFAULT '',
	invert_shades INTEGER NOT NULL DEFAULT 0,
	fresh_light   INTEGER NOT NULL DEFAULT 0,
	fresh_moving  INTEGER NOT NULL DEFAULT 0,
	fresh_idle    INTEGER NOT NULL DEFAULT 0,
	fresh_power   INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO site (only) VALUES (1);

-- Raised by every commit that changes the subject, so that other processes see it.
CREATE TABLE revision (
	subject TEXT PRIMARY KEY,
	number  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO revision VALUES ('site', 0), ('accounts', 0);

-- Highest number handed out automatically. Never lowered.
CREATE TABLE mark (
	family TEXT PRIMARY KEY,
	high   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO mark VALUES ('node', 0), ('shade', 0), ('cluster', 0), ('user revision', 0);

-- IDs that were used once, with the UUID that may come back under them.
CREATE TABLE tombstone (
	family     TEXT    NOT NULL,
	id         INTEGER NOT NULL,
	uuid       BLOB    NOT NULL,
	name       TEXT    NOT NULL,
	retired_at INTEGER NOT NULL,
	retired_by TEXT    NOT NULL,
	PRIMARY KEY (family, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tombstone_uuid ON tombstone (family, uuid);

CREATE TABLE bus (
	uuid      BLOB    PRIMARY KEY CHECK (length(uuid) = 16),
	place     INTEGER NOT NULL, -- order in the site
	name      TEXT    NOT NULL, -- unique; imports check it, because two may swap names
	driver    TEXT    NOT NULL,
	port      TEXT    NOT NULL,
	baud_rate INTEGER NOT NULL,
	parity    TEXT    NOT NULL,
	data_bits INTEGER NOT NULL,
	stop_bits INTEGER NOT NULL,
	options   TEXT    NOT NULL,
	disabled  INTEGER NOT NULL
) STRICT;

CREATE TABLE node (
	id            INTEGER PRIMARY KEY CHECK (id > 0),
	uuid          BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
	name          TEXT    NOT NULL,
	bus           BLOB    NOT NULL REFERENCES bus (uuid) DEFERRABLE INITIALLY DEFERRED,
	address       TEXT    NOT NULL,
	profile       TEXT    NOT NULL,
	tag           TEXT    NOT NULL,
	outputs       TEXT    NOT NULL,
	device_groups TEXT    NOT NULL,
	options       TEXT    NOT NULL
) STRICT;
CREATE INDEX node_bus ON node (bus);

CREATE TABLE shade (
	id          INTEGER PRIMARY KEY CHECK (id > 0),
	uuid        BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
	name        TEXT    NOT NULL,
	node        INTEGER NOT NULL REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	output      INTEGER NOT NULL,
	travel_up   INTEGER NOT NULL, -- nanoseconds
	travel_down INTEGER NOT NULL,
	inverted    INTEGER NOT NULL
) STRICT;
CREATE INDEX shade_node ON shade (node);

CREATE TABLE cluster (
	id         INTEGER PRIMARY KEY CHECK (id > 0),
	uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
	name       TEXT    NOT NULL,
	created_by TEXT    NOT NULL,
	created_on INTEGER NOT NULL
) STRICT;
CREATE TABLE cluster_node (
	cluster INTEGER NOT NULL REFERENCES cluster (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
	node    INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
	PRIMARY KEY (cluster, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX cluster_node_node ON cluster_node (node);
CREATE TABLE cluster_shade (
	cluster INTEGER NOT NULL REFERENCES cluster (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
	shade   INTEGER NOT NULL REFERENCES shade (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
	PRIMARY KEY (cluster, shade)
) STRICT, WITHOUT ROWID;
CREATE INDEX cluster_shade_shade ON cluster_shade (shade);

CREATE TABLE user (
	uuid       BLOB    PRIMARY KEY CHECK (length(uuid) = 16),
	name       TEXT    NOT NULL UNIQUE,
	role       TEXT    NOT NULL,
	password   TEXT    NOT NULL, -- PHC string
	created_at INTEGER NOT NULL,
	revision   INTEGER NOT NULL
) STRICT;

CREATE TABLE refresh_token (
	seq        INTEGER PRIMARY KEY, -- order of creation
	hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256
	user       BLOB    NOT NULL REFERENCES user (uuid) ON DELETE CASCADE,
	created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX refresh_token_user ON refresh_token (user);

CREATE TABLE api_key (
	uuid       BLOB    PRIMARY KEY CHECK (length(uuid) = 16),
	name       TEXT    NOT NULL UNIQUE,
	prefix     TEXT    NOT NULL,
	hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256
	may_write  INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	last_used  INTEGER NOT NULL
) STRICT;

CREATE TABLE secret (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Written behind. Rows are small on purpose: the state of a building fits in a
-- few pages, so that a batch writes few bytes.
CREATE TABLE state (
	node       INTEGER NOT NULL,
	channel    INTEGER NOT NULL,
	shade      INTEGER NOT NULL,
	has        INTEGER NOT NULL,
	level      INTEGER NOT NULL,
	kelvin     INTEGER NOT NULL,
	rgbw       INTEGER NOT NULL,
	power      REAL    NOT NULL,
	motion     INTEGER NOT NULL,
	position   INTEGER NOT NULL,
	last_level INTEGER NOT NULL,
	at         INTEGER NOT NULL,
	PRIMARY KEY (shade, node, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE entry (
	seq  INTEGER PRIMARY KEY,
	id   TEXT NOT NULL UNIQUE,
	body BLOB NOT NULL
) STRICT;
