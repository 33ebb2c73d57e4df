-- Which state of a controller's building is kept, so that whoever read it knows whether it still is.

ALTER TABLE controller ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
