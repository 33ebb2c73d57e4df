-- Buses, users and keys have a number as well as a UUID, never used again.
INSERT INTO mark VALUES ('bus', 0), ('user', 0), ('key', 0);
ALTER TABLE bus ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_key ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE bus SET number = (SELECT count(*) FROM bus AS b WHERE b.place < bus.place OR b.place = bus.place AND b.uuid <= bus.uuid);
UPDATE user SET number = (SELECT count(*) FROM user AS u WHERE u.created_at < user.created_at OR u.created_at = user.created_at AND u.uuid <= user.uuid);
UPDATE api_key SET number = (SELECT count(*) FROM api_key AS k WHERE k.created_at < api_key.created_at OR k.created_at = api_key.created_at AND k.uuid <= api_key.uuid);
UPDATE mark SET high = (SELECT count(*) FROM bus) WHERE family = 'bus';
UPDATE mark SET high = (SELECT count(*) FROM user) WHERE family = 'user';
UPDATE mark SET high = (SELECT count(*) FROM api_key) WHERE family = 'key';

-- A node may wait for its bus, a shade for its node: null until they are bound. New
-- columns take the place of the old ones, since dropping a table would drop
-- memberships with it.
DROP INDEX node_bus;
ALTER TABLE node RENAME COLUMN bus TO bus_before;
ALTER TABLE node ADD COLUMN bus BLOB REFERENCES bus (uuid) DEFERRABLE INITIALLY DEFERRED;
UPDATE node SET bus = bus_before;
ALTER TABLE node DROP COLUMN bus_before;
CREATE INDEX node_bus ON node (bus);
DROP INDEX shade_node;
ALTER TABLE shade RENAME COLUMN node TO node_before;
ALTER TABLE shade ADD COLUMN node INTEGER REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED;
UPDATE shade SET node = node_before;
ALTER TABLE shade DROP COLUMN node_before;
CREATE INDEX shade_node ON shade (node);

-- Who changed what, apart from the ledger of commands.
CREATE TABLE audit (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	at      INTEGER NOT NULL,
	who     TEXT    NOT NULL,
	origin  TEXT    NOT NULL, -- address or console
	what    TEXT    NOT NULL, -- such as node.rename
	subject TEXT    NOT NULL,
	detail  TEXT    NOT NULL,
	scope   TEXT    NOT NULL  -- site, or account: for admins only
) STRICT;

-- Settings of the controller itself, as JSON.
CREATE TABLE setting (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
