-- Messages in encrypted rooms. Times are UTC milliseconds.

-- the content of the m.room.encrypted event: what is sent, the same bytes each time; NULL once sent
ALTER TABLE submissions ADD COLUMN sealed TEXT;
-- SHA-256 of its ciphertext, by which its echo is known
ALTER TABLE submissions ADD COLUMN sealed_digest BLOB;
CREATE INDEX submissions_by_sealed ON submissions (sealed_digest) WHERE sealed_digest IS NOT NULL;

-- came encrypted, or was sent so: only who was in the room then may read it
ALTER TABLE log ADD COLUMN encrypted INTEGER NOT NULL DEFAULT 0;

-- Encrypted events that no puppet can read yet, as they came.
CREATE TABLE waiting (
  arrival        INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id       TEXT NOT NULL UNIQUE,
  room_key       INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  session_id     TEXT NOT NULL,
  event          TEXT NOT NULL,
  received_at_ms INTEGER NOT NULL,
  -- agents have been told that something cannot be read
  told           INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX waiting_by_session ON waiting (room_key, session_id);

-- Events that one agent's own machine cannot read though another's can, or that it could not read in time.
CREATE TABLE exceptions (
  agent_key  INTEGER NOT NULL REFERENCES agents,
  event_id   TEXT NOT NULL,
  -- the message; for an edit, that which it changes
  seq        INTEGER NOT NULL REFERENCES log ON DELETE CASCADE,
  room_key   INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  event      TEXT NOT NULL,
  -- NULL: cannot be read. Else the key came late: its arrival number for this agent
  late_at    INTEGER,
  PRIMARY KEY (agent_key, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX exceptions_by_session ON exceptions (agent_key, room_key, session_id);
CREATE INDEX exceptions_by_seq ON exceptions (seq);

-- Each place of a room key that was read (16 bytes of SHA-256 over room, session and index), and by which event: the
-- same place under another event id is a replay.
CREATE TABLE places_read (
  place BLOB PRIMARY KEY,
  event BLOB NOT NULL
) STRICT, WITHOUT ROWID;
