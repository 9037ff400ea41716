-- The ban lists that the config names, as they were last read: in force at once after a start.
CREATE TABLE ban_lists (
  -- as in the config: a room id or an alias
  name    TEXT PRIMARY KEY,
  room_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ban_list_rules (
  name   TEXT NOT NULL REFERENCES ban_lists ON DELETE CASCADE,
  -- user, server or room
  kind   TEXT NOT NULL,
  entity TEXT NOT NULL,
  PRIMARY KEY (name, kind, entity)
) STRICT, WITHOUT ROWID;

-- Whom the bridge banned from its rooms because a list names them, so that it can lift that again.
CREATE TABLE listed_bans (
  room_key INTEGER NOT NULL REFERENCES rooms ON DELETE CASCADE,
  user_id  TEXT NOT NULL,
  PRIMARY KEY (room_key, user_id)
) STRICT, WITHOUT ROWID;
