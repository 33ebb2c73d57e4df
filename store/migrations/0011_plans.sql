-- The pictures of the plans of floors, by their SHA-256 in hexadecimal digits, and what somebody saw
-- needs attention and put aside.
CREATE TABLE picture (
	name TEXT PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;
CREATE TABLE aside (
	key TEXT    PRIMARY KEY, -- of what it is about
	who TEXT    NOT NULL,
	at  INTEGER NOT NULL
) STRICT;
