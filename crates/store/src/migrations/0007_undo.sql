-- What a claim took (quotas; whom the agent's last message named), as JSON; NULL once it is settled. Given back where nothing
-- comes of the claim.
ALTER TABLE submissions ADD COLUMN undo TEXT;
ALTER TABLE room_claims ADD COLUMN undo TEXT;
