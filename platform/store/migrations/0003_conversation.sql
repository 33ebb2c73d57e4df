-- What the assistant remembers of its conversations, by owner and the session that the
-- owner named.

CREATE TABLE conversation (
	owner   TEXT NOT NULL,
	session TEXT NOT NULL,
	body    TEXT NOT NULL,    -- JSON
	used_at BIGINT NOT NULL,
	PRIMARY KEY (owner, session)
);
CREATE INDEX conversation_idle ON conversation (owner, used_at);
CREATE INDEX conversation_old ON conversation (used_at);
