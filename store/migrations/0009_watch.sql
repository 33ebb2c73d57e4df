-- Other controllers whose houses are looked at every night, for what differs from when they were taken over.
CREATE TABLE watch (
	source      TEXT    PRIMARY KEY, -- host and port
	url         TEXT    NOT NULL,
	refresh     TEXT    NOT NULL, -- its refresh token
	ca          TEXT    NOT NULL, -- PEM; empty: the fingerprint
	fingerprint TEXT    NOT NULL,
	looked_at   INTEGER NOT NULL,
	differences INTEGER NOT NULL DEFAULT 0,
	trouble     TEXT    NOT NULL DEFAULT '' -- why the last look failed
) STRICT;
