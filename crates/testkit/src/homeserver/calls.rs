//! The answers of an honest homeserver: accounts, rooms, sending.
#![allow(clippy::result_large_err, reason = "a refusal is an answer too")]

use serde_json::{Value, json};

use super::{
    Call, FakeHomeserver, RoomSetup, SERVER_NAME,
    request::{Answer, Request, ok, refusal},
    rooms::New,
    world::{World, is_ours},
};

/// Largest event, in bytes.
const EVENT_BYTES: usize = 65_536;

impl FakeHomeserver {
    pub(super) async fn answer(&self, request: &Request) -> Answer {
        if !request.is_authorized() {
            return refusal(401, "M_UNKNOWN_TOKEN", "unknown token");
        }
        if request.call == Call::Ping {
            return self.ping(request).await;
        }
        let now_ms = self.now_ms();
        self.world(|w| answer(w, now_ms, request)).unwrap_or_else(|refusal| refusal)
    }

    async fn ping(&self, request: &Request) -> Answer {
        match super::pump::call_back(self, &request.body).await {
            Ok(200) => {
                self.0.again.notify_waiters();
                ok(&json!({"duration_ms": 1}))
            }
            Ok(status) => refusal(502, "M_BAD_STATUS", &format!("the appservice answered {status}")),
            Err(()) => refusal(502, "M_CONNECTION_FAILED", "the appservice cannot be reached"),
        }
    }
}

fn answer(w: &mut World, now_ms: i64, request: &Request) -> Result<Answer, Answer> {
    match request.call {
        Call::Versions => return Ok(ok(&json!({"versions": ["v1.11", "v1.16"]}))),
        Call::Register | Call::RegisterProbe => return register(w, request),
        Call::ResolveAlias => return resolve(w, &request.args[0]),
        Call::Profile => return super::profiles::read(w, &request.args[0]),
        _ => {}
    }
    let user = acting(w, request)?;
    match request.call {
        Call::Whoami => Ok(ok(&json!({"user_id": user}))),
        Call::DisplayName => {
            w.set_name(now_ms, &user, request.body["displayname"].as_str().unwrap_or_default());
            Ok(ok(&json!({})))
        }
        Call::Join => join(w, now_ms, &user, &request.args[0]),
        Call::Leave => leave(w, now_ms, &user, &request.args[0]),
        Call::Invite => invite(w, now_ms, &user, request),
        Call::Kick => put_out(w, now_ms, &user, request, ("kick", &["join", "invite", "knock"], "leave")),
        Call::Ban => {
            put_out(w, now_ms, &user, request, ("ban", &["join", "invite", "knock", "leave", "ban"], "ban"))
        }
        Call::Unban => put_out(w, now_ms, &user, request, ("ban", &["ban"], "leave")),
        Call::Knock => knock(w, now_ms, &user, request),
        Call::JoinedRooms => Ok(ok(&json!({"joined_rooms": joined_rooms(w, &user)}))),
        Call::AccountData => match w.account_data.get(&(user, request.args[1].clone())) {
            Some(content) => Ok(ok(content)),
            None => Err(refusal(404, "M_NOT_FOUND", "no such account data")),
        },
        Call::SetAccountData => {
            w.account_data.insert((user, request.args[1].clone()), request.body.clone());
            Ok(ok(&json!({})))
        }
        Call::CreateRoom => create(w, now_ms, &user, &request.body),
        Call::SendState => {
            member(w, &request.args[0], &user)?;
            let (kind, key) = (&request.args[1], &request.args[2]);
            let new = New { sender: &user, kind, state_key: Some(key), content: request.body.clone() };
            Ok(ok(&json!({"event_id": w.push(&request.args[0], now_ms, new)})))
        }
        Call::Send => send(w, now_ms, &user, request),
        Call::Upload => Ok(super::profiles::upload(w)),
        Call::Avatar | Call::ProfileField => super::profiles::set_field(w, now_ms, &user, request),
        Call::SetPresence | Call::Presence | Call::Receipt | Call::Typing => {
            super::manners::answer(w, &user, request)
        }
        _ => super::reading::answer(w, &user, request),
    }
}

/// The user that the appservice acts as.
fn acting(w: &World, request: &Request) -> Result<String, Answer> {
    let user = request.user.clone().unwrap_or_else(|| format!("@_parlour:{SERVER_NAME}"));
    if request.user.is_some() && !is_ours(&user) {
        return Err(refusal(403, "M_FORBIDDEN", "not in the appservice's namespace"));
    }
    if request.user.is_some() && !w.users.contains_key(&user) {
        return Err(refusal(403, "M_FORBIDDEN", "not registered"));
    }
    Ok(user)
}

fn register(w: &mut World, request: &Request) -> Result<Answer, Answer> {
    let user = format!("@{}:{SERVER_NAME}", request.body["username"].as_str().unwrap_or_default());
    if !is_ours(&user) {
        return Err(refusal(400, "M_EXCLUSIVE", "not in the appservice's namespace"));
    }
    if w.users.contains_key(&user) {
        return Err(refusal(400, "M_USER_IN_USE", "taken"));
    }
    w.users.insert(user.clone(), None);
    Ok(ok(&json!({"user_id": user})))
}

fn resolve(w: &World, alias: &str) -> Result<Answer, Answer> {
    match w.aliases.get(alias) {
        Some(room) => Ok(ok(&json!({"room_id": room, "servers": [SERVER_NAME]}))),
        None => Err(refusal(404, "M_NOT_FOUND", "no such alias")),
    }
}

fn join(w: &mut World, now_ms: i64, user: &str, target: &str) -> Result<Answer, Answer> {
    let id = w.aliases.get(target).map_or(target, String::as_str).to_owned();
    let Some(room) = w.rooms.get(&id) else { return Err(refusal(404, "M_NOT_FOUND", "no such room")) };
    match room.membership(user).as_str() {
        "join" => {}
        // not M_FORBIDDEN (Synapse 1.163)
        "ban" => return Err(refusal(403, "M_BAD_STATE", "banned")),
        "invite" => w.set_member(&id, now_ms, user, user, "join"),
        _ if room.is_public() => w.set_member(&id, now_ms, user, user, "join"),
        _ => return Err(refusal(403, "M_FORBIDDEN", "not invited")),
    }
    Ok(ok(&json!({"room_id": id})))
}

fn leave(w: &mut World, now_ms: i64, user: &str, id: &str) -> Result<Answer, Answer> {
    let Some(room) = w.rooms.get(id) else { return Err(refusal(404, "M_UNKNOWN", "no such room")) };
    if !matches!(room.membership(user).as_str(), "join" | "invite" | "knock") {
        return Err(refusal(403, "M_FORBIDDEN", "not in the room"));
    }
    w.set_member(id, now_ms, user, user, "leave");
    Ok(ok(&json!({})))
}

/// Somebody in the room who may; the other neither in it nor banned.
fn invite(w: &mut World, now_ms: i64, user: &str, request: &Request) -> Result<Answer, Answer> {
    let (id, other) = (&request.args[0], request.body["user_id"].as_str().unwrap_or_default());
    member(w, id, user)?;
    let room = &w.rooms[id];
    if room.level(user) < room.takes("invite") || matches!(&*room.membership(other), "join" | "ban") {
        return Err(refusal(403, "M_FORBIDDEN", "not to be invited"));
    }
    let mut content = json!({"membership": "invite"});
    if let Some(reason) = request.body["reason"].as_str() {
        content["reason"] = reason.into();
    }
    let new = New { sender: user, kind: "m.room.member", state_key: Some(other), content };
    w.push(id, now_ms, new);
    Ok(ok(&json!({})))
}

/// `how`: what it takes, what the other is before and after.
fn put_out(
    w: &mut World,
    now_ms: i64,
    user: &str,
    request: &Request,
    how: (&str, &[&str], &str),
) -> Result<Answer, Answer> {
    let (id, other) = (&request.args[0], request.body["user_id"].as_str().unwrap_or_default());
    member(w, id, user)?;
    let (room, (takes, before, after)) = (&w.rooms[id], how);
    let may = room.level(user) >= room.takes(takes) && room.level(user) > room.level(other);
    if !may || !before.contains(&&*room.membership(other)) {
        return Err(refusal(403, "M_FORBIDDEN", "not to be put out, or let in"));
    }
    w.set_member(id, now_ms, user, other, after);
    Ok(ok(&json!({})))
}

fn knock(w: &mut World, now_ms: i64, user: &str, request: &Request) -> Result<Answer, Answer> {
    let id = &request.args[0];
    let Some(room) = w.rooms.get(id) else { return Err(refusal(404, "M_NOT_FOUND", "no such room")) };
    let rule = room.state("m.room.join_rules", "").map_or(Value::Null, |e| e["content"]["join_rule"].clone());
    if rule != "knock" || !matches!(&*room.membership(user), "leave" | "knock") {
        return Err(refusal(403, "M_FORBIDDEN", "no knocking here"));
    }
    let content = json!({"membership": "knock", "reason": request.body["reason"]});
    w.push(id, now_ms, New { sender: user, kind: "m.room.member", state_key: Some(user), content });
    Ok(ok(&json!({"room_id": id})))
}

fn joined_rooms(w: &World, user: &str) -> Vec<String> {
    let joined = w.rooms.iter().filter(|(_, room)| room.membership(user) == "join");
    joined.map(|(id, _)| id.clone()).collect()
}

fn create(w: &mut World, now_ms: i64, user: &str, body: &Value) -> Result<Answer, Answer> {
    let alias = body["room_alias_name"].as_str();
    if alias.is_some_and(|a| w.aliases.contains_key(&format!("#{a}:{SERVER_NAME}"))) {
        return Err(refusal(400, "M_ROOM_IN_USE", "the alias is taken"));
    }
    let version = body["room_version"].as_str().unwrap_or("12");
    let join_rule = if body["preset"] == "public_chat" { "public" } else { "invite" };
    let setup = RoomSetup { version, alias, join_rule, ..RoomSetup::default() };
    let id = w.make_room_with(now_ms, user, &setup, &body["creation_content"]);
    if let Some(levels) = body["power_level_content_override"].as_object() {
        let mut content = json!({"users": if version == "12" { json!({}) } else { json!({user: 100}) }});
        levels.iter().for_each(|(key, value)| content[key] = value.clone());
        w.put(&id, now_ms, user, "m.room.power_levels", content);
    }
    for (kind, key) in [("m.room.name", "name"), ("m.room.topic", "topic")] {
        if let Some(text) = body[key].as_str() {
            w.put(&id, now_ms, user, kind, json!({key: text}));
        }
    }
    for event in body["initial_state"].as_array().into_iter().flatten() {
        let kind = event["type"].as_str().unwrap_or_default();
        w.put(&id, now_ms, user, kind, event["content"].clone());
    }
    Ok(ok(&json!({"room_id": id})))
}

fn member(w: &World, room: &str, user: &str) -> Result<(), Answer> {
    match w.rooms.get(room) {
        Some(r) if r.membership(user) == "join" => Ok(()),
        Some(_) => Err(refusal(403, "M_FORBIDDEN", "not in the room")),
        None => Err(refusal(404, "M_NOT_FOUND", "no such room")),
    }
}

/// The same path again gives the same answer, whoever asks.
fn send(w: &mut World, now_ms: i64, user: &str, request: &Request) -> Result<Answer, Answer> {
    if let Some(event_id) = w.answered.get(&request.path) {
        return Ok(ok(&json!({"event_id": event_id})));
    }
    member(w, &request.args[0], user)?;
    let room = &w.rooms[&request.args[0]];
    if room.level(user) < room.takes("events_default") {
        return Err(refusal(403, "M_FORBIDDEN", "no power to speak"));
    }
    if request.body.to_string().len() > EVENT_BYTES - 1_000 {
        return Err(refusal(413, "M_TOO_LARGE", "too large"));
    }
    let new = New { sender: user, kind: &request.args[1], state_key: None, content: request.body.clone() };
    let event_id = w.push(&request.args[0], now_ms, new);
    w.answered.insert(request.path.clone(), event_id.clone());
    Ok(ok(&json!({"event_id": event_id})))
}
