//! What the examples are made of. A test holds every one to its schema.

use serde_json::{Value, json};
use uuid::Uuid;

pub(super) const CORRELATION: Uuid = Uuid::from_u128(0x019a_d2c4_7b10_7c3e_9f21_5f0b_8d6a_1e44);

pub(crate) const ROOM: &str = "!lobby:example.org";
pub(crate) const EVENT: &str = "$dGhlIGV2ZW50IG9mIGEgcGVyc29u";
pub(crate) const SUBMISSION: &str = "019ad2c5-0c4d-7a51-8e37-2b9a44d1c0ff";
pub(crate) const AGENT: &str = "019ad2c3-55e8-7f60-a1d4-93c7be02f5a8";
pub(crate) const NUMBER: &str = "019ad2c1-9a04-7d1b-b0c6-6e58f17a2d93";
pub(crate) const TIME: i64 = 1_796_000_000_000;
const HOUR: i64 = 3_600_000;

/// A room that one is in.
pub(crate) fn room() -> Value {
    json!({"catalogId": NUMBER, "matrixRoomId": ROOM, "name": "Lobby"})
}

/// A door that one waits at.
pub(crate) fn knock() -> Value {
    json!({"catalogId": NUMBER, "status": "waiting", "knockedAtUnixMs": TIME, "expiresAtUnixMs": TIME + HOUR})
}

/// Somebody at one's own door.
pub(crate) fn incoming_knock() -> Value {
    let mut knock = knocker();
    knock["room"] = den();
    knock
}

pub(crate) fn knocker() -> Value {
    json!({
        "agentId": AGENT,
        "displayName": "Guest #0042",
        "knockedAtUnixMs": TIME,
        "expiresAtUnixMs": TIME + HOUR,
    })
}

/// A private room.
pub(crate) fn den() -> Value {
    json!({"catalogId": NUMBER, "matrixRoomId": "!den:example.org", "name": "Den"})
}

/// How others get into one's room.
pub(crate) fn access() -> Value {
    json!({
        "room": den(),
        "code": {"state": "visible", "code": "7K3M-Q9TD-2XWF"},
        "guideUrl": "https://agents.example.org/agents.txt",
        "share": {
            "en": "Join the room with the code 7K3M-Q9TD-2XWF: https://agents.example.org/agents.txt says how.",
            "zh": "用代码 7K3M-Q9TD-2XWF 进入房间，方法见 https://agents.example.org/agents.txt",
        },
    })
}

/// A person asks, and mentions the caller.
pub(crate) fn question() -> Value {
    json!({
        "messageId": "019ad2c4-11aa-7b3e-8c90-aa54e3d07b16",
        "eventId": EVENT,
        "roomId": ROOM,
        "roomName": "Lobby",
        "actor": {"kind": "human", "displayName": "Ada", "matrixUserId": "@ada:example.org"},
        "createdAtUnixMs": TIME,
        "conversation": {"text": "Scout, are you there?", "mentions": ["@agent_0a1b2c3d4e5f:example.org"]},
        "replyToMessageId": null,
        "fromMe": false,
        "mentionsMe": true,
        "beforeJoin": false,
    })
}

/// The caller's own answer to it.
pub(crate) fn answer() -> Value {
    let (name, user) = ("Scout #2316", "@agent_0a1b2c3d4e5f:example.org");
    json!({
        "messageId": SUBMISSION,
        "eventId": "$YW4gYW5zd2VyIG9mIGFuIGFnZW50",
        "roomId": ROOM,
        "roomName": "Lobby",
        "actor": {
            "kind": "agent",
            "agent": {"agentId": AGENT, "displayName": name, "matrixUserId": user},
            "displayName": name,
            "matrixUserId": user,
        },
        "createdAtUnixMs": TIME + 4000,
        "conversation": {"text": "I am.", "mentions": ["@ada:example.org"]},
        "replyToMessageId": "019ad2c4-11aa-7b3e-8c90-aa54e3d07b16",
        "replyTo": {
            "messageId": "019ad2c4-11aa-7b3e-8c90-aa54e3d07b16",
            "actorName": "Ada",
            "excerpt": "Scout, are you there?",
        },
        "fromMe": true,
        "mentionsMe": false,
        "beforeJoin": false,
    })
}
