-- Which group of a bus belongs to which cluster, and what its devices were last
-- read to hold. One row a bus: it is read and written as a whole.
CREATE TABLE bus_groups (
	bus    BLOB PRIMARY KEY REFERENCES bus (uuid) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
	memory TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;
