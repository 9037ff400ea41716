//! A call as it came in.

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::AS_TOKEN;

/// The calls of the client-server API that the bridge makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    Versions,
    Whoami,
    Ping,
    Register,
    /// Of the user that the bridge probes with, in the background: apart, so that tests can count and fail the others.
    RegisterProbe,
    DisplayName,
    Profile,
    Join,
    Leave,
    Invite,
    Kick,
    Ban,
    Unban,
    Knock,
    JoinedRooms,
    AccountData,
    SetAccountData,
    CreateRoom,
    ResolveAlias,
    State,
    StateContent,
    SendState,
    Messages,
    Event,
    Send,
    SetPresence,
    Presence,
    Receipt,
    Typing,
    Upload,
    Avatar,
    ProfileField,
}

pub(crate) type Answer = Response<axum::body::Body>;

pub(crate) struct Request {
    pub(crate) call: Call,
    /// Variable parts of the path, in order.
    pub(crate) args: Vec<String>,
    /// Whom it is made for.
    pub(crate) user: Option<String>,
    query: Vec<(String, String)>,
    pub(crate) path: String,
    pub(crate) body: Value,
    token: Option<String>,
}

impl Request {
    /// `None`: no call that is known here.
    pub(crate) fn read(parts: &http::request::Parts, body: &Bytes) -> Option<Self> {
        let path = parts.uri.path();
        let segments: Vec<String> = path.split('/').skip(1).map(decode).collect();
        let (call, args) = route(&parts.method, &segments)?;
        let query: Vec<(String, String)> = parts
            .uri
            .query()
            .unwrap_or_default()
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (decode(key), decode(value)))
            .collect();
        let user = query.iter().find(|(key, _)| key == "user_id").map(|(_, user)| user.clone());
        let token = parts.headers.get("authorization").and_then(|v| v.to_str().ok()).map(str::to_owned);
        let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let probes = body["username"].as_str().is_some_and(|name| name.ends_with("_probe"));
        let call = if call == Call::Register && probes { Call::RegisterProbe } else { call };
        Some(Self { call, args, user, query, path: path.to_owned(), body, token })
    }

    pub(crate) fn query(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_authorized(&self) -> bool {
        self.call == Call::Versions || self.token.as_deref() == Some(&format!("Bearer {AS_TOKEN}"))
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn route(method: &Method, segments: &[String]) -> Option<(Call, Vec<String>)> {
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    if let ("POST", ["_matrix", "media", "v3", "upload"]) = (method.as_str(), &*parts) {
        return Some((Call::Upload, vec![]));
    }
    let ["_matrix", "client", rest @ ..] = &*parts else { return None };
    let (call, args): (Call, Vec<&str>) = match (method.as_str(), rest) {
        ("GET", ["versions"]) => (Call::Versions, vec![]),
        ("POST", ["v1", "appservice", id, "ping"]) => (Call::Ping, vec![id]),
        ("GET", ["v3", "account", "whoami"]) => (Call::Whoami, vec![]),
        ("POST", ["v3", "register"]) => (Call::Register, vec![]),
        ("PUT", ["v3", "profile", user, "displayname"]) => (Call::DisplayName, vec![user]),
        ("PUT", ["v3", "profile", user, field @ "avatar_url"]) => (Call::Avatar, vec![user, field]),
        ("PUT", ["v3", "profile", user, field]) => (Call::ProfileField, vec![user, field]),
        ("GET", ["v3", "profile", user]) => (Call::Profile, vec![user]),
        ("POST", ["v3", "join", room]) => (Call::Join, vec![room]),
        ("POST", ["v3", "rooms", room, "leave"]) => (Call::Leave, vec![room]),
        ("POST", ["v3", "rooms", room, "invite"]) => (Call::Invite, vec![room]),
        ("POST", ["v3", "rooms", room, "kick"]) => (Call::Kick, vec![room]),
        ("POST", ["v3", "rooms", room, "ban"]) => (Call::Ban, vec![room]),
        ("POST", ["v3", "rooms", room, "unban"]) => (Call::Unban, vec![room]),
        ("POST", ["v3", "knock", room]) => (Call::Knock, vec![room]),
        ("GET", ["v3", "joined_rooms"]) => (Call::JoinedRooms, vec![]),
        ("GET", ["v3", "user", user, "account_data", kind]) => (Call::AccountData, vec![user, kind]),
        ("PUT", ["v3", "user", user, "account_data", kind]) => (Call::SetAccountData, vec![user, kind]),
        ("POST", ["v3", "createRoom"]) => (Call::CreateRoom, vec![]),
        ("GET", ["v3", "directory", "room", alias]) => (Call::ResolveAlias, vec![alias]),
        ("GET", ["v3", "rooms", room, "state"]) => (Call::State, vec![room]),
        ("GET", ["v3", "rooms", room, "state", kind, key]) => (Call::StateContent, vec![room, kind, key]),
        ("PUT", ["v3", "rooms", room, "state", kind, key]) => (Call::SendState, vec![room, kind, key]),
        ("GET", ["v3", "rooms", room, "messages"]) => (Call::Messages, vec![room]),
        ("GET", ["v3", "rooms", room, "event", event]) => (Call::Event, vec![room, event]),
        ("PUT", ["v3", "rooms", room, "send", kind, txn]) => (Call::Send, vec![room, kind, txn]),
        ("PUT", ["v3", "presence", user, "status"]) => (Call::SetPresence, vec![user]),
        ("GET", ["v3", "presence", user, "status"]) => (Call::Presence, vec![user]),
        ("POST", ["v3", "rooms", room, "receipt", "m.read", event]) => (Call::Receipt, vec![room, event]),
        ("PUT", ["v3", "rooms", room, "typing", user]) => (Call::Typing, vec![room, user]),
        _ => return None,
    };
    Some((call, args.into_iter().map(str::to_owned).collect()))
}

pub(crate) fn ok(body: &Value) -> Answer {
    answer(200, body)
}

pub(crate) fn answer(status: u16, body: &Value) -> Answer {
    let answer = Response::builder()
        .status(StatusCode::from_u16(status).expect("a status"))
        .header("content-type", "application/json");
    answer.body(axum::body::Body::from(body.to_string())).expect("an answer")
}

pub(crate) fn refusal(status: u16, errcode: &str, error: &str) -> Answer {
    answer(status, &json!({"errcode": errcode, "error": error}))
}
