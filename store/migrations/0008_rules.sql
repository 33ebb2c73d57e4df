-- Scenes and rules. What they do is JSON text that the core reads.
CREATE TABLE scene (
	id      INTEGER PRIMARY KEY CHECK (id > 0),
	uuid    BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
	name    TEXT    NOT NULL,
	cluster INTEGER NOT NULL, -- that it is offered in; 0: the building
	actions TEXT    NOT NULL
) STRICT;
CREATE TABLE rule (
	id       INTEGER PRIMARY KEY CHECK (id > 0),
	uuid     BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
	name     TEXT    NOT NULL,
	disabled INTEGER NOT NULL,
	trigger  TEXT    NOT NULL,
	actions  TEXT    NOT NULL,
	yields   INTEGER NOT NULL -- nanoseconds
) STRICT;
INSERT INTO mark VALUES ('scene', 0), ('rule', 0);
