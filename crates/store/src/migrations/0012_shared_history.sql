-- History of encrypted rooms that is shared on invitation (MSC4268).

-- by which room key an event was encrypted, and its place in that
ALTER TABLE log ADD COLUMN session_id TEXT;
ALTER TABLE log ADD COLUMN message_index INTEGER;
ALTER TABLE edits ADD COLUMN session_id TEXT;
ALTER TABLE edits ADD COLUMN message_index INTEGER;
CREATE INDEX log_by_session ON log (room_key, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX edits_by_session ON edits (room_key, session_id) WHERE session_id IS NOT NULL;

-- Messages and edits from before an agent came whose key it was given all the same.
CREATE TABLE shown (
  agent_key INTEGER NOT NULL REFERENCES agents,
  -- arrival number of the message or the edit
  seq       INTEGER NOT NULL,
  room_key  INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  PRIMARY KEY (agent_key, room_key, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_by_seq ON shown (seq);
