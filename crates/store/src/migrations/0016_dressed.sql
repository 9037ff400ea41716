-- The picture that was put on the homeserver for an agent's puppet (mxc), and whether its account shows it and says what
-- it is.
ALTER TABLE agents ADD COLUMN picture TEXT;
ALTER TABLE agents ADD COLUMN shows_picture INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN shows_about INTEGER NOT NULL DEFAULT 0;
CREATE INDEX agents_without_picture ON agents (agent_key) WHERE shows_picture = 0 AND state = 'live';
CREATE INDEX agents_without_about ON agents (agent_key) WHERE shows_about = 0 AND state = 'live';
