//! What passes and is not kept: typing and read receipts (Matrix spec, `m.typing` and `m.receipt`).

use ruma::{OwnedEventId, OwnedRoomId, OwnedUserId};
use serde_json::value::RawValue;

use crate::json::{Fields, event_id, string, user_id};

/// One ephemeral event of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ephemeral {
    Typing(Typing),
    Receipts(Vec<Receipt>),
    /// Presence, and whatever else we do not read.
    Other,
}

/// Everybody who types in a room now; the list replaces the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    pub room_id: OwnedRoomId,
    pub users: Vec<OwnedUserId>,
}

/// `user` has read up to and with `event`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub room_id: OwnedRoomId,
    pub user_id: OwnedUserId,
    pub event_id: OwnedEventId,
}

impl Ephemeral {
    /// Never fails: ids that are none are left out, and an event without a room is [`Ephemeral::Other`].
    #[must_use]
    pub fn parse(raw: &RawValue) -> Self {
        let known = |fields: Fields<'_>| {
            let room_id = fields.room_id("room_id")?;
            let content = fields.object("content")?;
            match fields.str("type")?.as_str() {
                "m.typing" => Some(Self::Typing(Typing { room_id, users: typists(&content) })),
                "m.receipt" => Some(Self::Receipts(receipts(&room_id, &content))),
                _ => None,
            }
        };
        Fields::of(raw).and_then(known).unwrap_or(Self::Other)
    }
}

fn typists(content: &Fields<'_>) -> Vec<OwnedUserId> {
    let users = content.list("user_ids").unwrap_or_default();
    users.into_iter().filter_map(|u| user_id(&string(u)?)).collect()
}

/// Public and private receipts alike: we are only ever sent private ones of our own puppets.
fn receipts(room_id: &OwnedRoomId, content: &Fields<'_>) -> Vec<Receipt> {
    let mut all = vec![];
    for (event, by_kind) in content.iter() {
        let Some((event_id, kinds)) = event_id(event).zip(Fields::of(by_kind)) else { continue };
        for kind in ["m.read", "m.read.private"] {
            let readers = kinds.object(kind).unwrap_or_default();
            all.extend(readers.iter().filter_map(|(user, _)| {
                Some(Receipt {
                    room_id: room_id.clone(),
                    user_id: user_id(user)?,
                    event_id: event_id.clone(),
                })
            }));
        }
    }
    all.sort_by(|a, b| (&a.event_id, &a.user_id).cmp(&(&b.event_id, &b.user_id)));
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{json, value::to_raw_value};

    use super::*;

    #[test]
    fn typing_keeps_the_ids_that_are_ids() {
        let edu = json!({"type": "m.typing", "room_id": "!r:x", "content": {"user_ids": ["@a:x", 7, "nobody", "@b:x"]}});
        let Ephemeral::Typing(typing) = Ephemeral::parse(&to_raw_value(&edu).unwrap()) else { panic!() };
        assert_eq!(typing.users, ["@a:x", "@b:x"]);
        assert_eq!(typing.room_id, "!r:x");
    }

    #[test]
    fn receipts_come_one_by_one() {
        let edu = json!({"type": "m.receipt", "room_id": "!r:x", "content": {
            "$1": {"m.read": {"@b:x": {"ts": 1, "thread_id": "main"}, "@a:x": {"ts": 2}}, "m.read.private": {"@a:x": {}}},
            "$2": {"m.read": "odd"}, "odd": {"m.read": {"@a:x": {}}}}});
        let Ephemeral::Receipts(receipts) = Ephemeral::parse(&to_raw_value(&edu).unwrap()) else { panic!() };
        let got: Vec<_> = receipts.iter().map(|r| (r.user_id.as_str(), r.event_id.as_str())).collect();
        assert_eq!(got, [("@a:x", "$1"), ("@b:x", "$1")]);
    }

    #[rstest]
    #[case(json!({"type": "m.presence", "content": {}}))]
    #[case(json!({"type": "m.typing", "content": {"user_ids": []}}))]
    #[case(json!({"type": "m.typing", "room_id": "!r:x", "content": []}))]
    #[case(json!([]))]
    fn the_rest_is_passed_over(#[case] edu: serde_json::Value) {
        assert_eq!(Ephemeral::parse(&to_raw_value(&edu).unwrap()), Ephemeral::Other);
    }
}
