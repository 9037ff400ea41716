INSERT INTO person_knocks (room_key, user_id, knock_id, at_ms)
  VALUES (2, '@bob:x', x'0199aaaa000070008000000000000a06', 14);
