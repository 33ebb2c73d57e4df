-- Controllers, what they may say to the broker, and what they report. Times are
-- microseconds since 1970; 0 where there is none.

CREATE TABLE controller (
	id          TEXT PRIMARY KEY,
	label       TEXT NOT NULL,           -- whoever added it calls it so
	site_name   TEXT NOT NULL DEFAULT '',
	firmware    TEXT NOT NULL DEFAULT '',
	code_hash   BYTEA UNIQUE,            -- SHA-256 of a one-time code; NULL: none
	code_until  BIGINT NOT NULL DEFAULT 0,
	created_at  BIGINT NOT NULL,
	enrolled_at BIGINT NOT NULL DEFAULT 0,
	revoked     BOOLEAN NOT NULL DEFAULT FALSE,
	online      BOOLEAN NOT NULL DEFAULT FALSE,
	boot        BIGINT NOT NULL DEFAULT 0,
	last_seen   BIGINT NOT NULL DEFAULT 0,
	epoch       TEXT NOT NULL,           -- of the numbers of messages sent to it
	seq         BIGINT NOT NULL DEFAULT 0,
	panels      TEXT NOT NULL DEFAULT '[]',
	panels_rev  BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE broker_credential (
	username    TEXT PRIMARY KEY,
	controller  TEXT NOT NULL REFERENCES controller (id) ON DELETE CASCADE,
	integration BOOLEAN NOT NULL,
	hash        BYTEA NOT NULL,          -- SHA-256 of a random password
	mosquitto   TEXT NOT NULL,           -- the same for Mosquitto's password file
	created_at  BIGINT NOT NULL
);
CREATE INDEX broker_credential_controller ON broker_credential (controller);

-- The last that a controller said of each thing.
CREATE TABLE thing (
	controller  TEXT NOT NULL,
	kind        TEXT NOT NULL,
	id          BIGINT NOT NULL,
	state       TEXT NOT NULL,           -- JSON, as it came
	at          BIGINT NOT NULL,
	reported_at BIGINT NOT NULL,
	seen_at     BIGINT NOT NULL,
	PRIMARY KEY (controller, kind, id)
);

CREATE TABLE event (
	controller TEXT NOT NULL,
	message    TEXT NOT NULL,            -- ID of the message: it may come twice
	code       TEXT NOT NULL,
	severity   TEXT NOT NULL,
	kind       TEXT NOT NULL,
	thing      BIGINT NOT NULL,
	name       TEXT NOT NULL,
	text       TEXT NOT NULL,
	at         BIGINT NOT NULL,
	cleared    BOOLEAN NOT NULL,
	PRIMARY KEY (controller, message)
);
CREATE INDEX event_at ON event (controller, at);

-- Where the measuring of a node stands.
CREATE TABLE meter (
	controller TEXT NOT NULL,
	node       BIGINT NOT NULL,
	since      BIGINT NOT NULL,
	last_at    BIGINT NOT NULL,
	last_watts DOUBLE PRECISION NOT NULL,
	PRIMARY KEY (controller, node)
);

-- What was measured in minutes and in quarters of an hour.
CREATE TABLE energy (
	controller TEXT NOT NULL,
	node       BIGINT NOT NULL,
	length     BIGINT NOT NULL,          -- seconds: 60 or 900
	start_at   BIGINT NOT NULL,
	watt_hours DOUBLE PRECISION NOT NULL,
	covered    DOUBLE PRECISION NOT NULL, -- seconds of it that samples cover
	PRIMARY KEY (controller, node, length, start_at)
);
CREATE INDEX energy_start ON energy (length, start_at);
