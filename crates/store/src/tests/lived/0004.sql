-- In the agent's own room a message that it has read, one that the other's machine could not read, and one that waits.
INSERT INTO log (seq, room_key, pos, event_id, message_id, sender, author, event_type, content, body, sent_at_ms, received_at_ms,
    visibility, encrypted)
  VALUES (4, 2, 1048576, '$s4', x'0199aaaa000070008000000000000c04', '@ada:x', '{"kind":"person","display_name":"Ada"}',
    'm.room.message', '{"body":"sealed"}', '{"text":"sealed"}', 4, 4, 'invited', 1);
UPDATE rooms SET head_pos = 1048576, settled_pos = 1048576 WHERE room_key = 2;
INSERT INTO exceptions (agent_key, event_id, seq, room_key, session_id, event) VALUES (2, '$s4', 4, 2, 'session', '{}');
INSERT INTO waiting (event_id, room_key, session_id, event, received_at_ms)
  VALUES ('$w5', 2, 'session', '{"sender":"@ada:x"}', 5);
INSERT INTO places_read (place, event) VALUES (x'08', x'09');
INSERT INTO submissions (agent_key, submission_id, room_key, digest, content, body, sealed, sealed_digest, claimed_at_ms)
  VALUES (1, x'0199aaaa000070008000000000000d02', 2, zeroblob(32), '{}', '{"text":"sealed too"}', '{}', zeroblob(32), 4);
