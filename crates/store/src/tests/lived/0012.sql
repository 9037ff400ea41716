INSERT INTO shown (agent_key, seq, room_key) VALUES (1, 4, 2);
