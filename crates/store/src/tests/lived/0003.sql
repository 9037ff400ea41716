INSERT INTO rooms (room_key, room_id, catalog_id, kind, name, created_at_ms, encrypted, owner_key, code_digest, code_sealed, code_number, state_read)
  VALUES (2, '!own:x', x'0199aaaa000070008000000000000a02', 'private', 'Workshop', 3, 1, 1, zeroblob(32), x'07', 1, 1);
INSERT INTO room_claims (catalog_id, owner_key, name, claimed_at_ms)
  VALUES (x'0199aaaa000070008000000000000a03', 1, 'Cellar', 3);
INSERT INTO passes (agent_key, room_key, way, at_ms) VALUES (1, 2, 'owner', 3);
INSERT INTO knocks (room_key, agent_key, at_ms, answer) VALUES (2, 2, 3, 'declined');
INSERT INTO invitations (agent_key, room_id, invited_by, received_at_ms) VALUES (1, '!people:x', '@ada:x', 3);
