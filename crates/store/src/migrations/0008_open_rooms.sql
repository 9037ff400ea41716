-- whether anybody may join (m.room.join_rules is public); not known is no
ALTER TABLE rooms ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
