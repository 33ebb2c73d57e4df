-- What was commanded, as controllers report their ledgers, and when things changed. Times
-- are microseconds since 1970; 0 where there is none.

CREATE TABLE command (
	controller TEXT NOT NULL,
	id         TEXT NOT NULL,            -- in the controller's ledger
	at         BIGINT NOT NULL,
	body       TEXT NOT NULL,            -- JSON of a platform.Command
	PRIMARY KEY (controller, id)
);
CREATE INDEX command_at ON command (controller, at);

-- From when to when nothing is missing among them.
CREATE TABLE ledger (
	controller TEXT PRIMARY KEY,
	since_at   BIGINT NOT NULL,
	until_at   BIGINT NOT NULL
);

CREATE TABLE change (
	controller TEXT NOT NULL,
	kind       TEXT NOT NULL,
	id         BIGINT NOT NULL,
	aspect     TEXT NOT NULL,
	is_now     TEXT NOT NULL,
	at         BIGINT NOT NULL,
	after_at   BIGINT NOT NULL,          -- it was last known to be as before
	PRIMARY KEY (controller, kind, id, aspect, at)
);
CREATE INDEX change_at ON change (at);

-- What the newest change of a thing says; empty: nothing is known yet.
ALTER TABLE thing ADD COLUMN doing TEXT NOT NULL DEFAULT '';
ALTER TABLE thing ADD COLUMN reach TEXT NOT NULL DEFAULT '';
