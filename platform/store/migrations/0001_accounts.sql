-- Users, their sessions and keys. One text for SQLite and PostgreSQL: see migrate.go.
-- Times are microseconds since 1970; 0 where there is none.

CREATE TABLE account (
	id         TEXT PRIMARY KEY,
	name       TEXT NOT NULL UNIQUE,
	role       TEXT NOT NULL,
	password   TEXT NOT NULL,    -- PHC string; empty: none
	issuer     TEXT NOT NULL,    -- identity provider; empty: our own login
	subject    TEXT NOT NULL,    -- who the provider says it is
	disabled   BOOLEAN NOT NULL,
	revision   BIGINT NOT NULL,
	created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX account_subject ON account (issuer, subject) WHERE issuer <> '';

-- A session is what one login began; its refresh tokens are a family.
CREATE TABLE session (
	id         TEXT PRIMARY KEY,
	account    TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX session_account ON session (account, created_at);
CREATE INDEX session_expires ON session (expires_at);

CREATE TABLE refresh_token (
	hash       BYTEA PRIMARY KEY, -- SHA-256
	session    TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
	used       BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL
);
CREATE INDEX refresh_token_session ON refresh_token (session);

CREATE TABLE api_key (
	id           TEXT PRIMARY KEY,
	account      TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
	hash         BYTEA NOT NULL UNIQUE, -- SHA-256 of the whole value
	prefix       TEXT NOT NULL,
	name         TEXT NOT NULL,
	permissions  TEXT NOT NULL,         -- JSON
	rate_limit   BIGINT NOT NULL,
	expires_at   BIGINT NOT NULL,
	revoked_at   BIGINT NOT NULL,
	ended        BOOLEAN NOT NULL,
	created_at   BIGINT NOT NULL,
	last_used_at BIGINT NOT NULL
);
CREATE INDEX api_key_account ON api_key (account, created_at);

-- What the programs themselves must remember: certificate, signing keys.
CREATE TABLE secret (
	name  TEXT PRIMARY KEY,
	value BYTEA NOT NULL
);
