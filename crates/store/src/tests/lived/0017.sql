INSERT INTO audit (at_ms, deed, by_kind, by_agent, agent_key, room_key) VALUES (17, 'room_made', 'agent', 1, 1, 2);
