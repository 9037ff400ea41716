//! A room: its timeline and what the state is at its end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

pub(crate) struct Room {
    id: String,
    timeline: Vec<Value>,
    /// Places in the timeline.
    state: BTreeMap<(String, String), usize>,
    redacted: BTreeSet<String>,
}

/// An event on its way into a room.
pub(crate) struct New<'a> {
    pub(crate) sender: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) state_key: Option<&'a str>,
    pub(crate) content: Value,
}

impl Room {
    pub(crate) fn new(id: String) -> Self {
        Self { id, timeline: vec![], state: BTreeMap::new(), redacted: BTreeSet::new() }
    }

    /// Adds an event at the end; returns its place.
    pub(crate) fn push(&mut self, event_id: String, now_ms: i64, new: New<'_>) -> usize {
        let place = self.timeline.len();
        let mut event = json!({
            "event_id": event_id,
            "room_id": self.id,
            "sender": new.sender,
            "type": new.kind,
            "origin_server_ts": now_ms,
            "content": new.content,
            "unsigned": {"age": 1},
        });
        if let Some(key) = new.state_key {
            event["state_key"] = key.into();
            self.state.insert((new.kind.to_owned(), key.to_owned()), place);
        }
        if let ("m.room.redaction", Some(target)) = (new.kind, event["content"]["redacts"].as_str()) {
            let target = target.to_owned();
            event["redacts"] = target.clone().into();
            if self.may_redact(new.sender, &target) {
                self.redacted.insert(target);
            }
        }
        self.timeline.push(event);
        place
    }

    /// As the homeserver tells it now: what was redacted has lost its content.
    pub(crate) fn event(&self, place: usize) -> Value {
        let mut event = self.timeline[place].clone();
        if event["event_id"].as_str().is_some_and(|id| self.redacted.contains(id)) {
            event["content"] = json!({});
            event["unsigned"] = json!({"redacted_because": {}});
        }
        event
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = Value> {
        (0..self.timeline.len()).map(|place| self.event(place))
    }

    pub(crate) fn len(&self) -> usize {
        self.timeline.len()
    }

    pub(crate) fn find(&self, event_id: &str) -> Option<Value> {
        self.events().find(|e| e["event_id"] == event_id)
    }

    pub(crate) fn state(&self, kind: &str, key: &str) -> Option<Value> {
        self.state.get(&(kind.to_owned(), key.to_owned())).map(|place| self.event(*place))
    }

    pub(crate) fn whole_state(&self) -> Vec<Value> {
        self.state.values().map(|place| self.event(*place)).collect()
    }

    /// `leave` for somebody who was never here.
    pub(crate) fn membership(&self, user: &str) -> String {
        let member = self.state("m.room.member", user);
        let membership = member.as_ref().and_then(|m| m["content"]["membership"].as_str());
        membership.unwrap_or("leave").to_owned()
    }

    pub(crate) fn joined(&self) -> Vec<String> {
        let members = self.state.keys().filter(|(kind, _)| kind == "m.room.member").map(|(_, user)| user);
        members.filter(|u| self.membership(u) == "join").cloned().collect()
    }

    /// What somebody may do here; creators of version 12 everything.
    pub(crate) fn level(&self, user: &str) -> i64 {
        let create = self.state("m.room.create", "");
        let mighty = create.is_some_and(|e| e["sender"] == user && e["content"]["room_version"] == "12");
        if mighty {
            return i64::MAX;
        }
        let levels = self.levels();
        levels["users"][user].as_i64().or(levels["users_default"].as_i64()).unwrap_or(0)
    }

    /// What a thing takes, such as `invite` or `events_default`.
    pub(crate) fn takes(&self, what: &str) -> i64 {
        let default = if matches!(what, "invite" | "events_default") { 0 } else { 50 };
        self.levels()[what].as_i64().unwrap_or(default)
    }

    fn levels(&self) -> Value {
        self.state("m.room.power_levels", "").map_or(Value::Null, |e| e["content"].clone())
    }

    fn may_redact(&self, user: &str, target: &str) -> bool {
        let author = self.find(target).is_some_and(|e| e["sender"] == user);
        let levels = self.state("m.room.power_levels", "");
        let level = levels.and_then(|l| l["content"]["users"][user].as_i64()).unwrap_or(0);
        let creator = self.timeline.first().is_some_and(|create| create["sender"] == user);
        author || creator || level >= 50
    }

    /// Up to where somebody may read: members to the end, those who left to where they did.
    pub(crate) fn readable(&self, user: &str) -> Option<usize> {
        let world = self.state("m.room.history_visibility", "");
        if world.is_some_and(|e| e["content"]["history_visibility"] == "world_readable") {
            return Some(self.timeline.len());
        }
        let place = self.state.get(&("m.room.member".to_owned(), user.to_owned()))?;
        match self.membership(user).as_str() {
            "join" => Some(self.timeline.len()),
            "leave" => Some(*place),
            _ => None,
        }
    }

    pub(crate) fn is_public(&self) -> bool {
        self.state("m.room.join_rules", "").is_some_and(|e| e["content"]["join_rule"] == "public")
    }

    /// A page of the timeline and the token of the next one. Like Synapse it gives a token with the last page; only the
    /// empty page after that has none.
    pub(crate) fn page(
        &self,
        from: Option<usize>,
        readable: usize,
        backwards: bool,
        limit: usize,
    ) -> (Vec<Value>, Option<usize>) {
        if backwards {
            let end = from.unwrap_or(readable).min(readable);
            let start = end.saturating_sub(limit);
            let chunk: Vec<Value> = (start..end).rev().map(|p| self.event(p)).collect();
            let next = (!chunk.is_empty()).then_some(start);
            return (chunk, next);
        }
        let start = from.unwrap_or(0).min(readable);
        let end = (start + limit).min(readable);
        let chunk: Vec<Value> = (start..end).map(|p| self.event(p)).collect();
        let next = (!chunk.is_empty()).then_some(end);
        (chunk, next)
    }
}
