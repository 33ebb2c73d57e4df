-- Where this controller is enrolled; no row: nowhere.
CREATE TABLE cloud (
	only        INTEGER PRIMARY KEY CHECK (only = 1),
	platform    TEXT    NOT NULL, -- address that it enrolled at
	controller  TEXT    NOT NULL, -- its ID there
	broker      TEXT    NOT NULL,
	username    TEXT    NOT NULL,
	password    TEXT    NOT NULL,
	ca          TEXT    NOT NULL, -- PEM; empty: what the system trusts
	enrolled_at INTEGER NOT NULL
) STRICT;

-- Sessions with a platform since ever, wherever it was enrolled.
INSERT INTO mark VALUES ('cloud session', 0);
INSERT INTO revision VALUES ('cloud', 0);

-- Building, floors, meters: JSON text that the core reads.
ALTER TABLE site ADD COLUMN division TEXT NOT NULL DEFAULT '{}';
