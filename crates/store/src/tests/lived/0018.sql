INSERT INTO ban_lists (name, room_id) VALUES ('#bans:x', '!bans:x');
INSERT INTO ban_list_rules (name, kind, entity) VALUES ('#bans:x', 'user', '@eve:*');
INSERT INTO listed_bans (room_key, user_id) VALUES (1, '@eve:x');
