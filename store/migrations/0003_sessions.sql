-- Which door a token was made for, and for those that are replaced at each use: the
-- log-in that it goes back to, and when it was used (0: not yet). Using one that was
-- replaced a while ago means that somebody else has a copy.
ALTER TABLE refresh_token ADD COLUMN door TEXT NOT NULL DEFAULT 'public';
ALTER TABLE refresh_token ADD COLUMN family BLOB NOT NULL DEFAULT x'';
ALTER TABLE refresh_token ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
