//! JSON from strangers, one level at a time.
//!
//! Raw values are skipped over without recursion and without looking into strings, so deep nesting, lone surrogates
//! and numbers out of range stay the matter of whoever asks for just that value.

use std::{collections::HashMap, fmt};

use ruma::{EventId, OwnedEventId, OwnedRoomId, OwnedUserId, RoomId, UserId};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Longest id of any kind (Matrix spec, appendices, "Common Identifier Format").
const ID_MAX_BYTES: usize = 255;

/// The fields of an object. Of fields that come twice the last counts, as in most parsers.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(HashMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// `None`: no object.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str::<Entries<'a>>(raw.get()).ok().map(|e| Self(e.0.into_iter().collect()))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.get(key).copied()
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), *value))
    }

    pub(crate) fn object(&self, key: &str) -> Option<Fields<'a>> {
        self.get(key).and_then(Fields::of)
    }

    pub(crate) fn list(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        self.get(key).and_then(list)
    }

    /// A string as it is, for ids and other words of the protocol.
    pub(crate) fn str(&self, key: &str) -> Option<String> {
        self.get(key).and_then(string)
    }

    /// A string for people to read, without U+0000, which neither SQLite nor terminals take well.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.str(key).map(clean)
    }

    pub(crate) fn int(&self, key: &str) -> Option<i64> {
        self.get(key).and_then(int)
    }

    /// Whether the field is `true` itself.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|raw| raw.get() == "true")
    }

    pub(crate) fn event_id(&self, key: &str) -> Option<OwnedEventId> {
        self.str(key).as_deref().and_then(event_id)
    }

    pub(crate) fn room_id(&self, key: &str) -> Option<OwnedRoomId> {
        self.str(key).as_deref().and_then(room_id)
    }

    pub(crate) fn user_id(&self, key: &str) -> Option<OwnedUserId> {
        self.str(key).as_deref().and_then(user_id)
    }
}

/// The items of a list; `None`: no list.
pub(crate) fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// A string; halves of surrogate pairs become U+FFFD.
pub(crate) fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<Lossy>(raw.get()).ok().map(|l| l.0)
}

pub(crate) fn clean(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// A whole number; what is out of range becomes the nearest one that is not.
pub(crate) fn int(raw: &RawValue) -> Option<i64> {
    let text = raw.get();
    text.parse().ok().or_else(|| text.parse::<f64>().ok().map(|f| f as i64))
}

/// `raw` as an object of its own, `None` if it is none.
pub(crate) fn owned_object(raw: &RawValue) -> Option<Box<RawValue>> {
    raw.get().starts_with('{').then(|| raw.to_owned())
}

pub(crate) fn event_id(text: &str) -> Option<OwnedEventId> {
    sane(text).then(|| EventId::parse(text).ok()).flatten()
}

pub(crate) fn room_id(text: &str) -> Option<OwnedRoomId> {
    sane(text).then(|| RoomId::parse(text).ok()).flatten()
}

pub(crate) fn user_id(text: &str) -> Option<OwnedUserId> {
    sane(text).then(|| UserId::parse(text).ok()).flatten()
}

/// ruma checks neither of the two in every kind of id.
pub(crate) fn sane(id: &str) -> bool {
    id.len() <= ID_MAX_BYTES && !id.contains('\0')
}

/// All fields in the order they came, the same one twice included.
pub(crate) struct Entries<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = vec![];
        while let Some((key, value)) = map.next_entry::<Lossy, &'de RawValue>()? {
            entries.push((key.0, value));
        }
        Ok(Entries(entries))
    }
}

/// serde_json refuses a string with half a surrogate pair, but hands it out as bytes.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(LossyVisitor)
    }
}

struct LossyVisitor;

impl Visitor<'_> for LossyVisitor {
    type Value = Lossy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Lossy, E> {
        Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Lossy, E> {
        Ok(Lossy(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn one_broken_field_leaves_the_others_readable() {
        let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
        let json =
            format!(r#"{{"deep":{deep},"half":"a\ud83dz","\udc00":1,"huge":1e999,"n":7,"n":8,"ok":"yes"}}"#);
        let raw = raw(&json);
        let fields = Fields::of(&raw).unwrap();
        assert_eq!(fields.str("ok").as_deref(), Some("yes"));
        let half = fields.str("half").unwrap();
        assert!(half.starts_with("a\u{fffd}") && half.ends_with('z'), "{half}");
        assert_eq!(fields.int("huge"), Some(i64::MAX));
        assert_eq!(fields.int("n"), Some(8), "the last counts");
        assert_eq!(fields.list("deep").map(|l| l.len()), Some(1));
    }

    #[test]
    fn wrong_kinds_are_absent() {
        let raw = raw(r#"{"s":1,"o":[],"l":{},"i":"1","t":"true","nul":"a\u0000b"}"#);
        let fields = Fields::of(&raw).unwrap();
        assert_eq!(fields.str("s"), None);
        assert!(fields.object("o").is_none() && fields.list("l").is_none());
        assert_eq!(fields.int("i"), None);
        assert!(!fields.is_true("t"));
        assert_eq!(fields.text("nul").as_deref(), Some("a\u{fffd}b"));
        assert_eq!(fields.str("nul").as_deref(), Some("a\0b"));
    }

    #[test]
    fn ids_have_at_most_255_bytes_and_no_nul() {
        assert!(event_id(&format!("${}", "a".repeat(254))).is_some());
        assert!(event_id(&format!("${}", "a".repeat(255))).is_none());
        assert!(room_id(&format!("!{}", "a".repeat(254))).is_some(), "version 12 has no server part");
        assert!(user_id(&format!("@{}:x", "a".repeat(252))).is_some());
        assert!(user_id(&format!("@{}:x", "a".repeat(253))).is_none());
        assert!(event_id("$a\0").is_none());
    }
}
