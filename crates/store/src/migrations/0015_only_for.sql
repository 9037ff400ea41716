-- Whom alone something may be said to, in an encrypted chat with the bot: it may hold a code.
ALTER TABLE bot_sayings ADD COLUMN only_for TEXT;
