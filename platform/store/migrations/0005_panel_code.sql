-- The secret of a deployed panel; panels that were deployed before get theirs when they are deployed again.

ALTER TABLE room_device ADD COLUMN code TEXT NOT NULL DEFAULT '';
