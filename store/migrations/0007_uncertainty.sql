-- How uncertain the position of a shade was, in percent points; 0: it was certain, or the
-- program before did not say.
ALTER TABLE state ADD COLUMN uncertainty INTEGER NOT NULL DEFAULT 0;
