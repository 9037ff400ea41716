-- How often agents have answered each other up to a message, without a person in between; 0 for people's.
ALTER TABLE log ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
