-- Who may read what is judged event by event: an edit has a place and a key of its own, and what waits for its key
-- keeps the place at which it came.

-- Edits of messages. Who was away when one was made, or has no key for it, reads the words before it.
CREATE TABLE wordings (
  event_id   TEXT PRIMARY KEY,
  -- arrival number, from the same count as those of messages
  seq        INTEGER NOT NULL UNIQUE,
  room_key   INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  pos        INTEGER NOT NULL,
  -- the message; it may still be to come
  target     TEXT NOT NULL,
  sender     TEXT NOT NULL,
  sent_at_ms INTEGER NOT NULL,
  content    TEXT NOT NULL,
  body       TEXT NOT NULL,
  visibility TEXT NOT NULL,
  encrypted  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO wordings
  SELECT edits.event_id, -row_number() OVER (ORDER BY edits.event_id), room_key, pos, log.event_id, sender,
    edits.sent_at_ms, edits.content, edits.body, visibility, encrypted
  FROM edits JOIN log USING (seq);
DROP TABLE edits;
ALTER TABLE wordings RENAME TO edits;
CREATE INDEX edits_by_message ON edits (target);
CREATE INDEX edits_by_pos ON edits (room_key, pos);

-- a message's row keeps what was said first
UPDATE log SET body = original WHERE original IS NOT NULL;
ALTER TABLE log DROP COLUMN original;

-- Messages and edits that one agent's own machine cannot read though another's can, or that it could not read in time.
CREATE TABLE withheld (
  agent_key  INTEGER NOT NULL REFERENCES agents,
  event_id   TEXT NOT NULL,
  -- arrival number of the message or the edit
  seq        INTEGER NOT NULL,
  room_key   INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  event      TEXT NOT NULL,
  -- NULL: cannot be read. Else the key came late: the message's arrival number for this agent
  late_at    INTEGER,
  PRIMARY KEY (agent_key, event_id)
) STRICT, WITHOUT ROWID;
INSERT INTO withheld
  SELECT agent_key, event_id, ifnull((SELECT edits.seq FROM edits WHERE edits.event_id = exceptions.event_id), seq),
    room_key, session_id, event, late_at
  FROM exceptions;
DROP TABLE exceptions;
ALTER TABLE withheld RENAME TO exceptions;
CREATE INDEX exceptions_by_session ON exceptions (agent_key, room_key, session_id);
CREATE INDEX exceptions_by_seq ON exceptions (seq);

-- Encrypted events that no puppet can read yet, as they came.
CREATE TABLE unread (
  arrival        INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id       TEXT NOT NULL UNIQUE,
  room_key       INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  -- its place in the room's order, kept for it
  pos            INTEGER NOT NULL,
  sender         TEXT NOT NULL,
  -- the room's history visibility when it came
  visibility     TEXT NOT NULL,
  session_id     TEXT NOT NULL,
  event          TEXT NOT NULL,
  received_at_ms INTEGER NOT NULL,
  -- agents have been told that something cannot be read
  told           INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO unread
  SELECT arrival, event_id, room_key, head_pos + 1048576 * row_number() OVER (PARTITION BY room_key ORDER BY arrival),
    ifnull(json_extract(event, '$.sender'), ''), visibility, session_id, event, received_at_ms, told
  FROM waiting JOIN rooms USING (room_key);
UPDATE rooms SET (head_pos, settled_pos) = (SELECT max(pos), max(pos) FROM unread WHERE unread.room_key = rooms.room_key)
  WHERE room_key IN (SELECT room_key FROM unread);
DROP TABLE waiting;
ALTER TABLE unread RENAME TO waiting;
CREATE INDEX waiting_by_session ON waiting (room_key, session_id);
CREATE INDEX waiting_by_pos ON waiting (room_key, pos);

-- Redactions of events that were not known yet, by somebody who may redact only what is their own.
CREATE TABLE redactions (
  event_digest BLOB NOT NULL,
  sender       TEXT NOT NULL,
  room_key     INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  pos          INTEGER NOT NULL,
  PRIMARY KEY (event_digest, sender, room_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX redactions_by_pos ON redactions (room_key, pos);
