-- Gaps are told to each agent by what it cannot read itself.

-- something was said before the agent came that it cannot decrypt; until it has acknowledged a message
ALTER TABLE seats ADD COLUMN hides INTEGER NOT NULL DEFAULT 0;
-- place of the newest encrypted event that has left the log, or that nobody could read in time
ALTER TABLE rooms ADD COLUMN sealed_gone INTEGER;
DELETE FROM gaps WHERE reason = 'undecryptable';
ALTER TABLE waiting DROP COLUMN told;
-- whether an event was read, whatever it said
CREATE INDEX places_read_by_event ON places_read (event);
