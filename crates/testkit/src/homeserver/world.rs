//! All that the homeserver knows.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::{
    BOT, Call, Mishap, PUPPET_PREFIX, RoomSetup, SERVER_NAME, Shown,
    inside::Inside,
    rooms::{New, Room},
};

pub(crate) struct World {
    /// Display names by user.
    pub(crate) users: BTreeMap<String, Option<String>>,
    pub(crate) aliases: BTreeMap<String, String>,
    /// By user and type.
    pub(crate) account_data: BTreeMap<(String, String), Value>,
    pub(crate) rooms: BTreeMap<String, Room>,
    /// Synapse's memory of sends: by path and appservice, not by user.
    pub(crate) answered: BTreeMap<String, String>,
    /// Events for the appservice: room and place.
    pub(crate) outbox: VecDeque<(String, usize)>,
    pub(crate) ephemeral: Vec<Value>,
    pub(crate) next_txn: u64,
    pub(crate) in_flight: bool,
    /// Transactions are held back.
    pub(crate) holding: bool,
    pub(crate) appservice: String,
    pub(crate) calls: BTreeMap<Call, usize>,
    /// By call and room.
    pub(crate) inside: BTreeMap<(Call, String), Inside>,
    /// What goes wrong with the next calls, once each.
    pub(crate) mishaps: BTreeMap<Call, VecDeque<Mishap>>,
    /// What goes wrong with every call.
    pub(crate) standing: BTreeMap<Call, Mishap>,
    pub(crate) presence: BTreeMap<String, String>,
    pub(crate) without_presence: bool,
    /// `format` is not known: asked for a piece of state, it says the content alone.
    pub(crate) contents_only: bool,
    /// Fields of profiles but the display name, by user.
    pub(crate) profiles: BTreeMap<String, BTreeMap<String, Value>>,
    pub(crate) shown: Vec<Shown>,
    next_event: u64,
    next_room: u64,
}

impl World {
    pub(crate) fn new(appservice: String) -> Self {
        Self {
            users: BTreeMap::new(),
            aliases: BTreeMap::new(),
            account_data: BTreeMap::new(),
            rooms: BTreeMap::new(),
            answered: BTreeMap::new(),
            outbox: VecDeque::new(),
            ephemeral: vec![],
            next_txn: 1,
            in_flight: false,
            holding: false,
            appservice,
            calls: BTreeMap::new(),
            inside: BTreeMap::new(),
            mishaps: BTreeMap::new(),
            standing: BTreeMap::new(),
            presence: BTreeMap::new(),
            without_presence: false,
            contents_only: false,
            profiles: BTreeMap::new(),
            shown: vec![],
            next_event: 1,
            next_room: 1,
        }
    }

    /// Adds an event to a room and, where it concerns the appservice, to what that has to be told.
    pub(crate) fn push(&mut self, room: &str, now_ms: i64, new: New<'_>) -> String {
        let event_id = format!("$event{:06}", self.next_event);
        self.next_event += 1;
        let about_ours = is_ours(new.sender) || new.state_key.is_some_and(is_ours);
        let live = self.rooms.get_mut(room).expect("a room");
        let place = live.push(event_id.clone(), now_ms, new);
        if about_ours || live.joined().iter().any(|u| is_ours(u)) {
            self.outbox.push_back((room.to_owned(), place));
        }
        event_id
    }

    /// Sets somebody's membership, whatever rules there are.
    pub(crate) fn set_member(&mut self, room: &str, now_ms: i64, sender: &str, user: &str, membership: &str) {
        let mut content = json!({"membership": membership});
        if let (Some(Some(name)), "join" | "invite" | "knock") = (self.users.get(user), membership) {
            content["displayname"] = name.clone().into();
            if let Some(url) = self.profiles.get(user).and_then(|fields| fields.get("avatar_url")) {
                content["avatar_url"] = url.clone();
            }
        }
        let new = New { sender, kind: "m.room.member", state_key: Some(user), content };
        self.push(room, now_ms, new);
    }

    pub(crate) fn set_name(&mut self, now_ms: i64, user: &str, name: &str) {
        self.users.insert(user.to_owned(), Some(name.to_owned()));
        self.show_in_rooms(now_ms, user);
    }

    /// The name and the picture of somebody, in the rooms where they are.
    pub(crate) fn show_in_rooms(&mut self, now_ms: i64, user: &str) {
        let rooms = self.rooms.iter().filter(|(_, r)| r.membership(user) == "join");
        for room in rooms.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.set_member(&room, now_ms, user, user, "join");
        }
    }

    pub(crate) fn make_room(&mut self, now_ms: i64, creator: &str, setup: &RoomSetup<'_>) -> String {
        self.make_room_with(now_ms, creator, setup, &json!({}))
    }

    /// The same with more in its m.room.create.
    pub(crate) fn make_room_with(
        &mut self,
        now_ms: i64,
        creator: &str,
        setup: &RoomSetup<'_>,
        more: &Value,
    ) -> String {
        // since version 12 a room's id is the hash of its create event, without a server
        let server = if setup.version == "12" { String::new() } else { format!(":{SERVER_NAME}") };
        let id = format!("!room{:03}{server}", self.next_room);
        self.next_room += 1;
        self.rooms.insert(id.clone(), Room::new(id.clone()));
        let mut create = json!({"room_version": setup.version});
        more.as_object().into_iter().flatten().for_each(|(key, value)| create[key] = value.clone());
        self.put(&id, now_ms, creator, "m.room.create", create);
        self.set_member(&id, now_ms, creator, creator, "join");
        let users = if setup.version == "12" { json!({}) } else { json!({creator: 100}) };
        self.put(&id, now_ms, creator, "m.room.power_levels", json!({"users": users}));
        self.put(&id, now_ms, creator, "m.room.join_rules", json!({"join_rule": setup.join_rule}));
        let visibility = json!({"history_visibility": setup.history_visibility});
        self.put(&id, now_ms, creator, "m.room.history_visibility", visibility);
        if let Some(alias) = setup.alias {
            let alias = format!("#{alias}:{SERVER_NAME}");
            self.aliases.insert(alias.clone(), id.clone());
            self.put(&id, now_ms, creator, "m.room.canonical_alias", json!({"alias": alias}));
        }
        if setup.encrypted {
            let content = json!({"algorithm": "m.megolm.v1.aes-sha2"});
            self.put(&id, now_ms, creator, "m.room.encryption", content);
        }
        id
    }

    /// Sets a piece of state without a key.
    pub(crate) fn put(
        &mut self,
        room: &str,
        now_ms: i64,
        sender: &str,
        kind: &str,
        content: Value,
    ) -> String {
        self.push(room, now_ms, New { sender, kind, state_key: Some(""), content })
    }

    pub(crate) fn mishap(&mut self, call: Call) -> Option<Mishap> {
        let once = self.mishaps.get_mut(&call).and_then(VecDeque::pop_front);
        once.or_else(|| self.standing.get(&call).cloned())
    }
}

/// In the appservice's namespace.
pub(crate) fn is_ours(user: &str) -> bool {
    user == BOT || user.starts_with(&format!("@{PUPPET_PREFIX}"))
}
