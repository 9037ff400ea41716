-- The schema of journal.db. Times are UTC milliseconds.

-- Every transaction is here before the homeserver gets its 200, and until what came of it is synced in parlour.db.
CREATE TABLE journal (
  journal_id     INTEGER PRIMARY KEY,
  txn_id         TEXT NOT NULL,
  received_at_ms INTEGER NOT NULL,
  body           BLOB NOT NULL
) STRICT;

-- Transactions of the last minutes. Synapse counts from 1 again after a restart on SQLite, so the id alone says nothing.
CREATE TABLE transactions (
  journal_id     INTEGER PRIMARY KEY,
  received_at_ms INTEGER NOT NULL,
  -- SHA-256 over id and body
  digest         BLOB NOT NULL
) STRICT;
