-- Conferencing devices and the rooms that they stand for.

CREATE TABLE room_device (
	id         TEXT PRIMARY KEY,
	workspace  TEXT NOT NULL,
	controller TEXT NOT NULL,    -- empty: none is assigned
	clusters   TEXT NOT NULL,    -- JSON
	deployed   BOOLEAN NOT NULL
);
CREATE INDEX room_device_controller ON room_device (controller);
