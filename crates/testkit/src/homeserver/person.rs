//! People, who use clients of their own.

use serde_json::{Value, json};

use super::{FakeHomeserver, RoomSetup, SERVER_NAME, rooms::New};

/// A person with an account here. What they do happens whatever rules there are: rules are not what is tested.
#[derive(Clone)]
pub struct Person {
    hs: FakeHomeserver,
    pub user_id: String,
}

impl FakeHomeserver {
    /// An account `@localpart:example.org`, with the localpart as display name.
    #[must_use]
    pub fn person(&self, localpart: &str) -> Person {
        self.person_of(localpart, SERVER_NAME)
    }

    /// Somebody whose account is on another homeserver, as this one knows them.
    #[must_use]
    pub fn person_of(&self, localpart: &str, server: &str) -> Person {
        let user_id = format!("@{localpart}:{server}");
        self.world(|w| w.users.insert(user_id.clone(), Some(localpart.to_owned())));
        Person { hs: self.clone(), user_id }
    }
}

impl Person {
    pub fn join(&self, room: &str) {
        self.set_member(room, &self.user_id, "join");
    }

    pub fn invite(&self, room: &str, user: &str) {
        self.set_member(room, user, "invite");
    }

    /// The same into a chat of two.
    pub fn invite_directly(&self, room: &str, user: &str) {
        let content = json!({"membership": "invite", "is_direct": true});
        let now = self.hs.now_ms();
        let new = New { sender: &self.user_id, kind: "m.room.member", state_key: Some(user), content };
        self.hs.world(|w| w.push(room, now, new));
    }

    /// Puts a sign beside a message.
    pub fn react(&self, room: &str, event_id: &str, key: &str) -> String {
        let relates_to = json!({"rel_type": "m.annotation", "event_id": event_id, "key": key});
        self.send(room, "m.reaction", json!({"m.relates_to": relates_to}))
    }

    /// A new room after this one, as an upgrade makes it; nobody is invited.
    #[must_use]
    pub fn upgrade(&self, room: &str, join_rule: &str) -> String {
        let setup = RoomSetup { join_rule, ..RoomSetup::default() };
        let (now, before) = (self.hs.now_ms(), json!({"predecessor": {"room_id": room}}));
        let new = self.hs.world(|w| w.make_room_with(now, &self.user_id, &setup, &before));
        self.set_state(room, "m.room.tombstone", json!({"body": "moved", "replacement_room": new}));
        new
    }

    /// Asks to be invited.
    pub fn knock(&self, room: &str) {
        self.set_member(room, &self.user_id, "knock");
    }

    pub fn leave(&self, room: &str) {
        self.set_member(room, &self.user_id, "leave");
    }

    pub fn kick(&self, room: &str, user: &str) {
        self.set_member(room, user, "leave");
    }

    pub fn ban(&self, room: &str, user: &str) {
        self.set_member(room, user, "ban");
    }

    pub fn unban(&self, room: &str, user: &str) {
        self.set_member(room, user, "leave");
    }

    pub fn rename(&self, name: &str) {
        let now = self.hs.now_ms();
        self.hs.world(|w| w.set_name(now, &self.user_id, name));
    }

    #[must_use]
    pub fn make_room(&self, setup: &RoomSetup<'_>) -> String {
        let now = self.hs.now_ms();
        self.hs.world(|w| w.make_room(now, &self.user_id, setup))
    }

    /// Says a text; its event id.
    pub fn say(&self, room: &str, text: &str) -> String {
        self.message(room, json!({"msgtype": "m.text", "body": text, "m.mentions": {}}))
    }

    /// Says a text that mentions somebody.
    pub fn say_to(&self, room: &str, user: &str, text: &str) -> String {
        self.message(room, json!({"msgtype": "m.text", "body": text, "m.mentions": {"user_ids": [user]}}))
    }

    /// Answers an event.
    pub fn reply(&self, room: &str, to: &str, text: &str) -> String {
        let relates_to = json!({"m.in_reply_to": {"event_id": to}});
        let content =
            json!({"msgtype": "m.text", "body": text, "m.mentions": {}, "m.relates_to": relates_to});
        self.message(room, content)
    }

    pub fn edit(&self, room: &str, event_id: &str, text: &str) -> String {
        let new = json!({"msgtype": "m.text", "body": text, "m.mentions": {}});
        let relates_to = json!({"rel_type": "m.replace", "event_id": event_id});
        let body = format!("* {text}");
        let content = json!({"msgtype": "m.text", "body": body, "m.new_content": new, "m.mentions": {},
            "m.relates_to": relates_to});
        self.message(room, content)
    }

    pub fn redact(&self, room: &str, event_id: &str) -> String {
        self.send(room, "m.room.redaction", json!({"redacts": event_id}))
    }

    pub fn message(&self, room: &str, content: Value) -> String {
        self.send(room, "m.room.message", content)
    }

    pub fn send(&self, room: &str, kind: &str, content: Value) -> String {
        let now = self.hs.now_ms();
        let new = New { sender: &self.user_id, kind, state_key: None, content };
        self.hs.world(|w| w.push(room, now, new))
    }

    pub fn set_state(&self, room: &str, kind: &str, content: Value) -> String {
        let now = self.hs.now_ms();
        self.hs.world(|w| w.put(room, now, &self.user_id, kind, content))
    }

    /// A rule of a ban list; without content it is taken back.
    pub fn set_rule(&self, list: &str, about: &str, entity: &str, recommendation: Option<&str>) -> String {
        let content =
            recommendation.map_or_else(|| json!({}), |r| json!({"entity": entity, "recommendation": r}));
        let (kind, key) = (format!("m.policy.rule.{about}"), format!("rule:{entity}"));
        let new = New { sender: &self.user_id, kind: &kind, state_key: Some(&key), content };
        self.hs.world(|w| w.push(list, self.hs.now_ms(), new))
    }

    /// Everybody who types in the room now, as the homeserver tells it.
    pub fn typing(&self, room: &str, users: &[&str]) {
        let edu = json!({"type": "m.typing", "room_id": room, "content": {"user_ids": users}});
        self.hs.world(|w| w.ephemeral.push(edu));
    }

    fn set_member(&self, room: &str, user: &str, membership: &str) {
        let now = self.hs.now_ms();
        self.hs.world(|w| w.set_member(room, now, &self.user_id, user, membership));
    }
}
