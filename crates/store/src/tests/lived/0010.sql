INSERT INTO rooms (room_key, room_id, catalog_id, kind, name, created_at_ms, state_read)
  VALUES (3, '!people:x', x'0199aaaa000070008000000000000a04', 'private', 'Kitchen', 10, 1);
INSERT INTO bot_invitations (room_id, invited_by, direct, received_at_ms) VALUES ('!chat:x', '@ada:x', 1, 10);
INSERT INTO bot_rooms (room_key, direct, announced) VALUES (3, 0, x'0b');
INSERT INTO bot_chats (user_id, catalog_id, room_id) VALUES ('@ada:x', x'0199aaaa000070008000000000000a05', NULL);
INSERT INTO bot_letters (user_id, room_key, at_ms) VALUES ('@ada:x', 3, 10);
INSERT INTO bot_people (user_id) VALUES ('@ada:x');
INSERT INTO bot_heard (event_digest) VALUES (x'0c');
INSERT INTO bot_errands (room_key, event_id, sender, what) VALUES (3, '$asked', '@ada:x', '{}');
INSERT INTO bot_sayings (mark, room_key, event_type, content, made_at_ms)
  VALUES (x'0199aaaa000070008000000000000d03', 3, 'm.room.message', x'0d', 10);
INSERT INTO door_notices (room_key, agent_key, mark) VALUES (3, 2, x'0e');
