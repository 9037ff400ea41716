INSERT INTO moves (old_room_id, room_key) VALUES ('!before:x', 3);
