-- Rooms that were upgraded: under which Matrix id a room went on before.
CREATE TABLE moves (
  old_room_id TEXT PRIMARY KEY,
  room_key    INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  -- all of ours have left the old room
  done        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
