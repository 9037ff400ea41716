-- What a bridge of this version may have written. Two agents in a lobby; the second and the third message are unread, and
-- the third was edited.
INSERT INTO meta (name, value) VALUES ('kept', x'01');
INSERT INTO journal (journal_id, txn_id, received_at_ms, body) VALUES (7, '1', 5, x'7b7d');
INSERT INTO transactions (digest, received_at_ms) VALUES (x'aa', 5);
INSERT INTO rooms (room_key, room_id, catalog_id, kind, slug, name, head_pos, settled_pos, created_at_ms)
  VALUES (1, '!lobby:x', x'0199aaaa000070008000000000000a01', 'lobby', 'lobby', 'Lobby', 3145728, 3145728, 1);
INSERT INTO members (room_key, user_id, membership, display_name) VALUES (1, '@ada:x', 'join', 'Ada');
INSERT INTO agents (agent_key, agent_id, user_id, display_name, likeness, number, token_digest, state, created_at_ms, last_call_ms)
  VALUES (1, x'0199aaaa000070008000000000000b01', '@agent_scout:x', 'Scout #0001', 'scout', 1, zeroblob(32), 'live', 1, 2),
    (2, x'0199aaaa000070008000000000000b02', '@agent_wren:x', 'Wren #0002', 'wren', 2, NULL, 'gone', 1, 2);
INSERT INTO seats (agent_key, room_key, periods, acked_seq, opened)
  VALUES (1, 1, '[{"membership":"joined","after":0,"until":null}]', 1, 1);
INSERT INTO log (seq, room_key, pos, event_id, message_id, sender, author, event_type, content, body, original, sent_at_ms,
    received_at_ms, visibility)
  VALUES (1, 1, 1048576, '$e1', x'0199aaaa000070008000000000000c01', '@ada:x', '{"kind":"person","display_name":"Ada"}',
      'm.room.message', '{"body":"first"}', '{"text":"first"}', NULL, 1, 1, 'shared'),
    (2, 1, 2097152, '$e2', x'0199aaaa000070008000000000000c02', '@ada:x', '{"kind":"person","display_name":"Ada"}',
      'm.room.message', '{"body":"second"}', '{"text":"second"}', NULL, 2, 2, 'shared'),
    (3, 1, 3145728, '$e3', x'0199aaaa000070008000000000000c03', '@ada:x', '{"kind":"person","display_name":"Ada"}',
      'm.room.message', '{"body":"thrid"}', '{"text":"third","edited":true}', '{"text":"thrid"}', 3, 3, 'shared');
INSERT INTO edits (event_id, seq, sent_at_ms, content, body)
  VALUES ('$edit', 3, 4, '{"body":"* third"}', '{"text":"third","edited":true}');
INSERT INTO evicted (event_digest, room_key, seq, pos, agent_key) VALUES (x'01', 1, 0, 0, NULL);
INSERT INTO redacted (event_digest) VALUES (x'02');
INSERT INTO gaps (before_seq, after_event_id, reason) VALUES (2, '$e1', 'too_many');
INSERT INTO submissions (agent_key, submission_id, room_key, digest, event_id, claimed_at_ms)
  VALUES (1, x'0199aaaa000070008000000000000d01', 1, zeroblob(32), '$e0', 1);
INSERT INTO quotas (subject, started_at_ms, length_ms, used) VALUES ('kept', 1, 60000, 3);
