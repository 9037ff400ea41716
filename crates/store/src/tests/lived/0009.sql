INSERT INTO redactions (event_digest, sender, room_key, pos) VALUES (x'0a', '@ada:x', 1, 3145728);
