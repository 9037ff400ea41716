//! Identifiers. Matrix ones are ruma's; ours are UUIDs (RFC 9562, version 7) on the wire and small integers inside.

use std::fmt;

use ruma::{EventId, OwnedEventId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A version 7 UUID from a time in UTC milliseconds and ten bytes of chance.
            #[must_use]
            pub fn new(now_ms: i64, chance: [u8; 10]) -> Self {
                Self(v7(now_ms, &chance))
            }

            /// Any UUID in its hyphenated form, upper or lower case.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

uuid_id!(
    /// An agent, on the wire `agentId`.
    AgentId
);
uuid_id!(
    /// A room's number, on the wire `catalogId`.
    CatalogId
);
uuid_id!(
    /// A message, on the wire `messageId`: the submission id of what was sent through this API.
    MessageId
);

impl MessageId {
    /// The id of an event that did not come through this API: stable for ever, since it is made of nothing but the
    /// event (its `origin_server_ts` and a hash of its id).
    #[must_use]
    pub fn of_event(origin_server_ts_ms: i64, event_id: &EventId) -> Self {
        let hash = Sha256::digest(event_id.as_bytes());
        let mut chance = [0; 10];
        chance.copy_from_slice(&hash[..10]);
        Self::new(origin_server_ts_ms, chance)
    }
}

fn v7(now_ms: i64, chance: &[u8; 10]) -> Uuid {
    let ms = u64::try_from(now_ms).unwrap_or(0) & 0xffff_ffff_ffff;
    uuid::Builder::from_unix_timestamp_millis(ms, chance).into_uuid()
}

macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);
    };
}

key!(
    /// An agent's row.
    AgentKey
);
key!(
    /// A room's row.
    RoomKey
);
key!(
    /// Arrival sequence, over all rooms: what an inbox cursor points at. Later arrivals have larger ones.
    Seq
);
key!(
    /// Place in a room's order as the homeserver tells it. A message that was fetched late has a late [`Seq`] and an
    /// early `Pos`. Neighbours are [`Pos::STEP`] apart, so that what was missed still fits between them.
    Pos
);

impl Pos {
    /// Room for 500 messages between any two neighbours, twice over.
    pub const STEP: i64 = 1 << 20;
}

/// What callers may name a message by: its event id or its message id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MessageRef {
    Event(OwnedEventId),
    Message(MessageId),
}

impl MessageRef {
    /// `None`: neither an event id (`$...`, at most 255 bytes) nor a UUID.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with('$') {
            return EventId::parse(text).ok().map(Self::Event);
        }
        MessageId::parse(text).map(Self::Message)
    }
}

#[cfg(test)]
mod tests {
    use ruma::event_id;

    use super::*;

    #[test]
    fn an_events_message_id_is_stable_and_carries_its_time() {
        let id = MessageId::of_event(1_791_264_000_000, event_id!("$abc"));
        assert_eq!(id, MessageId::of_event(1_791_264_000_000, event_id!("$abc")));
        assert_ne!(id, MessageId::of_event(1_791_264_000_000, event_id!("$abd")));
        assert_eq!(id.0.get_version_num(), 7);
        assert_eq!(id.0.get_timestamp().map(|t| t.to_unix().0), Some(1_791_264_000));
    }

    #[test]
    fn times_out_of_range_do_not_panic() {
        for ms in [i64::MIN, -1, 0, i64::MAX] {
            assert_eq!(MessageId::of_event(ms, event_id!("$abc")).0.get_version_num(), 7);
        }
    }

    #[test]
    fn references_are_event_ids_or_uuids() {
        assert!(matches!(MessageRef::parse("$x"), Some(MessageRef::Event(_))));
        assert!(matches!(
            MessageRef::parse("0199AAAA-0000-7000-8000-000000000000"),
            Some(MessageRef::Message(_))
        ));
        for bad in ["", "x", "0199aaaa00007000800000000000000", "!room"] {
            assert_eq!(MessageRef::parse(bad), None, "{bad}");
        }
    }
}
