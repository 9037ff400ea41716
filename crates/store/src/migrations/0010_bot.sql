-- The bridge bot in rooms of people. Times are UTC milliseconds.

-- Invitations to the bot that were neither followed nor declined yet.
CREATE TABLE bot_invitations (
  room_id        TEXT PRIMARY KEY,
  invited_by     TEXT NOT NULL,
  -- the invitation said that this is a chat of two
  direct         INTEGER NOT NULL,
  received_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Rooms that the bot was let into, lobbies apart.
CREATE TABLE bot_rooms (
  room_key   INTEGER PRIMARY KEY REFERENCES rooms ON DELETE CASCADE,
  direct     INTEGER NOT NULL,
  -- digest of the commands that were announced there
  announced  BLOB
) STRICT;

-- The direct chat that the bot makes for somebody. The number goes into its m.room.create, as with agents' rooms.
CREATE TABLE bot_chats (
  user_id    TEXT PRIMARY KEY,
  catalog_id BLOB NOT NULL UNIQUE,
  -- NULL: asked for, and nobody knows yet what came of it
  room_id    TEXT
) STRICT, WITHOUT ROWID;

-- Codes that somebody is to be shown once there is a chat to do it in.
CREATE TABLE bot_letters (
  user_id  TEXT NOT NULL,
  room_key INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  at_ms    INTEGER NOT NULL,
  PRIMARY KEY (user_id, room_key)
) STRICT, WITHOUT ROWID;

-- People who wrote to the bot: agents may invite them.
CREATE TABLE bot_people (
  user_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Digests of events that were meant for the bot: each is carried out once, and none gets into a log.
CREATE TABLE bot_heard (
  event_digest BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What the bot was asked to do and has not answered yet.
CREATE TABLE bot_errands (
  errand_id INTEGER PRIMARY KEY AUTOINCREMENT,
  room_key  INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  event_id  TEXT NOT NULL UNIQUE,
  sender    TEXT NOT NULL,
  -- JSON of the app's
  what      TEXT NOT NULL
) STRICT;
CREATE INDEX bot_errands_by_room ON bot_errands (room_key);

-- What the bot says: on disk before it is sent, and sent once.
CREATE TABLE bot_sayings (
  saying_id    INTEGER PRIMARY KEY AUTOINCREMENT,
  -- by which it is found in the room where an answer was lost
  mark         BLOB NOT NULL UNIQUE,
  room_key     INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  event_type   TEXT NOT NULL,
  -- sealed with the bridge's key, since it may hold a code
  content      BLOB NOT NULL,
  -- content of the m.room.encrypted event, the same bytes each time
  encrypted    TEXT,
  -- SHA-256 of its ciphertext
  digest       BLOB,
  -- the homeserver may have it already
  tried        INTEGER NOT NULL DEFAULT 0,
  made_at_ms   INTEGER NOT NULL
) STRICT;
CREATE INDEX bot_sayings_by_room ON bot_sayings (room_key);

-- Knocks that the bot has told a room of.
CREATE TABLE door_notices (
  room_key   INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  agent_key  INTEGER NOT NULL REFERENCES agents,
  -- mark of what was said
  mark       BLOB NOT NULL,
  -- NULL until it is sent
  event_id   TEXT,
  -- the two reactions were put beside it
  offered    INTEGER NOT NULL DEFAULT 0,
  -- who answered the knock, where that was a person
  decided_by TEXT,
  PRIMARY KEY (room_key, agent_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX door_notices_by_event ON door_notices (event_id) WHERE event_id IS NOT NULL;
