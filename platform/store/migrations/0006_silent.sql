-- Which devices do not answer, to be told of all sites at once. What was reported before is
-- taken over with the next report: the broker keeps the last of each thing.

ALTER TABLE thing ADD COLUMN silent BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX thing_silent ON thing (controller, kind, id) WHERE silent;
