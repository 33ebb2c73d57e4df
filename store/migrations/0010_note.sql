-- What an installer wants the next one to know of a device.
ALTER TABLE node ADD COLUMN note TEXT NOT NULL DEFAULT '';
