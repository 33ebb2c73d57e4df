-- Where a device itself is reached, and the SHA-256 of the certificate that it is known by; empty: nobody said.

ALTER TABLE room_device ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE room_device ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
