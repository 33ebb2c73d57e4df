-- The version that a device's macro told last; 0: none did since its panel was deployed.

ALTER TABLE room_device ADD COLUMN macro INTEGER NOT NULL DEFAULT 0;
