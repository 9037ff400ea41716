-- What was done, and by whom. Rows are only added, and go by age and number. Times are UTC milliseconds.
CREATE TABLE audit (
  audit_id  INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms     INTEGER NOT NULL,
  deed      TEXT NOT NULL,
  -- agent, person, operator, idle or bridge
  by_kind   TEXT NOT NULL,
  by_agent  INTEGER REFERENCES agents,
  by_user   TEXT,
  -- whom it befell
  agent_key INTEGER REFERENCES agents,
  user_id   TEXT,
  -- where
  room_key  INTEGER REFERENCES rooms ON DELETE SET NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at_ms);
