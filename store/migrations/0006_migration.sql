-- What was taken over from other controllers, with all that undoing it takes.
CREATE TABLE migration (
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	source    TEXT    NOT NULL, -- host and port
	at        INTEGER NOT NULL,
	who       TEXT    NOT NULL,
	undone_at INTEGER NOT NULL DEFAULT 0,
	restored  INTEGER NOT NULL DEFAULT 0, -- a backup was restored since
	body      TEXT    NOT NULL  -- JSON
) STRICT;
