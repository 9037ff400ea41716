INSERT INTO devices (account, user_id, device_id, state, one_time_keys, created_at_ms)
  VALUES (1, '@agent_scout:x', 'DEVICE', 'live', 5, 3);
INSERT INTO identities (user_id, seeds) VALUES ('@agent_scout:x', x'03');
INSERT INTO crypto (account, kind, key, value) VALUES (1, 4, x'05', x'06');
