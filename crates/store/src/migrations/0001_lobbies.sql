-- Times are UTC milliseconds. Keys (`*_key`) are ours and never leave the bridge; ids are what the wire knows.

-- Small facts about the bridge itself.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Every transaction is here before the homeserver gets its 200, and until its events are in the log.
CREATE TABLE journal (
  journal_id     INTEGER PRIMARY KEY AUTOINCREMENT,
  txn_id         TEXT NOT NULL,
  received_at_ms INTEGER NOT NULL,
  body           BLOB NOT NULL
) STRICT;

-- Transactions of the last minutes. Synapse counts from 1 again after a restart on SQLite, so the id alone says nothing.
CREATE TABLE transactions (
  digest         BLOB PRIMARY KEY,
  received_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX transactions_by_age ON transactions (received_at_ms);

CREATE TABLE rooms (
  room_key     INTEGER PRIMARY KEY,
  room_id      TEXT NOT NULL UNIQUE,
  catalog_id   BLOB NOT NULL UNIQUE,
  kind         TEXT NOT NULL CHECK (kind IN ('lobby', 'private')),
  -- of a lobby in the config; NULL where the alias has moved on to another room
  slug         TEXT UNIQUE,
  name         TEXT,
  visibility   TEXT NOT NULL DEFAULT 'shared',
  -- content of m.room.power_levels and what m.room.create says of creators, as JSON
  power        TEXT,
  encrypted    INTEGER NOT NULL DEFAULT 0,
  -- place of the newest message, so that an emptied log does not start over
  head_pos     INTEGER NOT NULL DEFAULT 0,
  -- up to this place the homeserver's order is known; later ones stand there on our word, until their echo comes
  settled_pos  INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
  room_key     INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  user_id      TEXT NOT NULL,
  membership   TEXT NOT NULL,
  display_name TEXT,
  avatar_url   TEXT,
  PRIMARY KEY (room_key, user_id)
) STRICT, WITHOUT ROWID;

-- An agent's row outlives it: its Matrix id is never used again, and what it said keeps its author.
CREATE TABLE agents (
  agent_key     INTEGER PRIMARY KEY,
  agent_id      BLOB NOT NULL UNIQUE,
  user_id       TEXT NOT NULL UNIQUE,
  display_name  TEXT NOT NULL,
  -- what the name looks like, and its number: no two living agents share both
  likeness      TEXT NOT NULL,
  number        INTEGER NOT NULL,
  -- SHA-256 of the token; NULL once it is void
  token_digest  BLOB UNIQUE,
  -- joining: not yet told its token; leaving: token void, still to be taken out of its rooms
  state         TEXT NOT NULL CHECK (state IN ('joining', 'live', 'leaving', 'gone')),
  created_at_ms INTEGER NOT NULL,
  last_call_ms  INTEGER NOT NULL,
  -- whom its last message mentioned, for waitFor=mentioned; a JSON list of user ids
  last_mentions TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE UNIQUE INDEX agents_by_name ON agents (likeness, number) WHERE token_digest IS NOT NULL;
CREATE INDEX agents_by_state ON agents (state) WHERE state <> 'gone';

-- An agent's place in a room. Instead of a row per agent and message: one cursor.
CREATE TABLE seats (
  agent_key     INTEGER NOT NULL REFERENCES agents,
  room_key      INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  -- JSON list of stretches of membership, in places of the room's order
  periods       TEXT NOT NULL,
  -- the join was answered, but its event has not come by transaction yet
  provisional   INTEGER NOT NULL DEFAULT 0,
  acked_seq     INTEGER NOT NULL DEFAULT 0,
  context_after INTEGER,
  context_until INTEGER,
  opened        INTEGER NOT NULL DEFAULT 0,
  -- taken out of a lobby for idleness: the next call puts it back
  away          INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (agent_key, room_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX seats_by_room ON seats (room_key);

-- The room log: one row per message, whatever the number of agents. Newest 500 per room.
CREATE TABLE log (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  room_key       INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  pos            INTEGER NOT NULL,
  event_id       TEXT NOT NULL UNIQUE,
  message_id     BLOB NOT NULL,
  sender         TEXT NOT NULL,
  author         TEXT NOT NULL,
  event_type     TEXT NOT NULL,
  -- the event's whole content as it came
  content        TEXT NOT NULL,
  -- what agents read of it, after edits
  body           TEXT NOT NULL,
  -- what it was before the first edit
  original       TEXT,
  replied        TEXT,
  sent_at_ms     INTEGER NOT NULL,
  received_at_ms INTEGER NOT NULL,
  visibility     TEXT NOT NULL,
  -- 0: appended when the homeserver answered the send, its echo is still to come
  echoed         INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX log_by_pos ON log (room_key, pos);
CREATE INDEX log_by_arrival ON log (room_key, seq);
CREATE INDEX log_by_message_id ON log (message_id);

-- Edits of messages in the log, so that a redacted edit gives the text before it back.
CREATE TABLE edits (
  event_id   TEXT PRIMARY KEY,
  seq        INTEGER NOT NULL REFERENCES log ON DELETE CASCADE,
  sent_at_ms INTEGER NOT NULL,
  content    TEXT NOT NULL,
  body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX edits_by_message ON edits (seq);

-- What is left of a message that has left the log: enough never to take it in again, and to count what somebody
-- missed. `agent_key` is its author where that was an agent.
CREATE TABLE evicted (
  event_digest BLOB PRIMARY KEY,
  room_key     INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  seq          INTEGER NOT NULL,
  pos          INTEGER NOT NULL,
  agent_key    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX evicted_by_arrival ON evicted (room_key, seq, agent_key, pos);

-- Digests of events that were redacted: an echo or a page of history must not bring them back.
CREATE TABLE redacted (
  event_digest BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Stretches that the bridge never had, hung on the message that follows them.
CREATE TABLE gaps (
  before_seq     INTEGER PRIMARY KEY REFERENCES log ON DELETE CASCADE,
  after_event_id TEXT,
  reason         TEXT NOT NULL
) STRICT;

-- Everything agents ever asked to be sent, for as long as they live.
CREATE TABLE submissions (
  agent_key      INTEGER NOT NULL REFERENCES agents,
  submission_id  BLOB NOT NULL,
  room_key       INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  -- of text, mentions and the rest: the same id with another digest is a conflict
  digest         BLOB NOT NULL,
  -- what is sent, the same bytes each time; NULL once sent
  content        TEXT,
  body           TEXT,
  event_id       TEXT,
  claimed_at_ms  INTEGER NOT NULL,
  PRIMARY KEY (agent_key, submission_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX submissions_pending ON submissions (claimed_at_ms) WHERE event_id IS NULL;

-- Fixed windows. `subject` is a kind and a key, such as an agent or the digest of a source.
CREATE TABLE quotas (
  subject       TEXT PRIMARY KEY,
  started_at_ms INTEGER NOT NULL,
  length_ms     INTEGER NOT NULL,
  used          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
