-- Rooms that agents make, and rooms of people that agents are invited to. Times are UTC milliseconds.

-- the agent that made it; NULL: a lobby, or a room that people made
ALTER TABLE rooms ADD COLUMN owner_key INTEGER REFERENCES agents;
-- closed for good: readable, nobody speaks
ALTER TABLE rooms ADD COLUMN closed_at_ms INTEGER;
-- the homeserver was told so too
ALTER TABLE rooms ADD COLUMN silenced INTEGER NOT NULL DEFAULT 0;
-- the Agent code that opens it: keyed digest to find it by, sealed copy to show. Codes are numbered in the order they
-- were made, so that one that is older than a removal can be told from a newer one whatever the clock does
ALTER TABLE rooms ADD COLUMN code_digest BLOB;
ALTER TABLE rooms ADD COLUMN code_sealed BLOB;
ALTER TABLE rooms ADD COLUMN code_number INTEGER NOT NULL DEFAULT 0;
-- all its state was read once; before that nobody knows whether it is encrypted
ALTER TABLE rooms ADD COLUMN state_read INTEGER NOT NULL DEFAULT 0;
-- where its tombstone leads
ALTER TABLE rooms ADD COLUMN successor TEXT;
CREATE UNIQUE INDEX rooms_by_code ON rooms (code_digest) WHERE code_digest IS NOT NULL;
CREATE INDEX rooms_by_owner ON rooms (owner_key) WHERE owner_key IS NOT NULL;

-- Rooms that are being made. The number goes into the room's m.room.create, by which the room is found where the
-- homeserver's answer was lost.
CREATE TABLE room_claims (
  catalog_id    BLOB PRIMARY KEY,
  owner_key     INTEGER NOT NULL REFERENCES agents,
  name          TEXT NOT NULL,
  claimed_at_ms INTEGER NOT NULL,
  UNIQUE (owner_key, name)
) STRICT, WITHOUT ROWID;

-- Who was let into a private room, and how. It outlives the seat: who was let in before needs not ask again.
CREATE TABLE passes (
  agent_key       INTEGER NOT NULL REFERENCES agents,
  room_key        INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  way             TEXT NOT NULL CHECK (way IN ('owner', 'code', 'knock', 'invite')),
  at_ms           INTEGER NOT NULL,
  -- removed since: the number that the room's code had then
  removed_at_code INTEGER,
  PRIMARY KEY (agent_key, room_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX passes_by_room ON passes (room_key);

-- The last knock of each agent on each door.
CREATE TABLE knocks (
  room_key  INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  agent_key INTEGER NOT NULL REFERENCES agents,
  at_ms     INTEGER NOT NULL,
  answer    TEXT NOT NULL CHECK (answer IN ('none', 'admitted', 'declined')),
  -- a wait of the owner has told of it
  told      INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (room_key, agent_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX knocks_by_agent ON knocks (agent_key);

-- Invitations of people to puppets that were neither followed nor declined yet.
CREATE TABLE invitations (
  agent_key      INTEGER NOT NULL REFERENCES agents,
  room_id        TEXT NOT NULL,
  invited_by     TEXT NOT NULL,
  received_at_ms INTEGER NOT NULL,
  PRIMARY KEY (agent_key, room_id)
) STRICT, WITHOUT ROWID;
