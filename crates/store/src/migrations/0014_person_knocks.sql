-- People who knock on rooms that agents made, as Matrix has it, until they are answered or gone. Times are UTC
-- milliseconds.
CREATE TABLE person_knocks (
  room_key INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  user_id  TEXT NOT NULL,
  -- what the room's owner knows the knock by
  knock_id BLOB NOT NULL UNIQUE,
  at_ms    INTEGER NOT NULL,
  -- a wait of the owner has told of it
  told     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (room_key, user_id)
) STRICT, WITHOUT ROWID;
