-- A puppet's devices, the ones it had before included: a device id is never used again, since people's clients keep
-- refusing an id whose keys have changed.
CREATE TABLE devices (
  -- what crypto rows go by
  account        INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id        TEXT NOT NULL,
  device_id      TEXT NOT NULL,
  -- making: not all of its keys are known to be uploaded; live; gone: given up, perhaps still to be deleted over there
  state          TEXT NOT NULL CHECK (state IN ('making', 'live', 'gone')),
  -- sealed access token, where the homeserver does not let an appservice act as a device
  token          BLOB,
  -- from where the next pull of to-device messages goes on
  since          TEXT,
  -- what the homeserver last said that it has left of us
  one_time_keys  INTEGER,
  fallback_unused INTEGER,
  created_at_ms  INTEGER NOT NULL,
  UNIQUE (user_id, device_id)
) STRICT;
CREATE UNIQUE INDEX devices_in_use ON devices (user_id) WHERE state <> 'gone';

-- A puppet's cross-signing seeds, sealed. They outlive its devices: a new device signed with them looks to people like
-- the old puppet, new seeds like somebody else.
CREATE TABLE identities (
  user_id TEXT PRIMARY KEY,
  seeds   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The crypto state of all devices, sealed value by value. `kind` and `key` are the crypto code's.
CREATE TABLE crypto (
  account INTEGER NOT NULL REFERENCES devices ON DELETE CASCADE,
  kind    INTEGER NOT NULL,
  key     BLOB NOT NULL,
  value   BLOB NOT NULL,
  PRIMARY KEY (account, kind, key)
) STRICT, WITHOUT ROWID;
