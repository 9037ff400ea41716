-- The journal moves into a database of its own. Up to this row of it everything is in the log.
CREATE TABLE worked_off (journal_id INTEGER NOT NULL) STRICT;
INSERT INTO worked_off VALUES (0);

-- `journal` stays for what older versions left in it, which is taken over when the store is opened.
DROP TABLE transactions;
