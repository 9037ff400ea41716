//! What a homeserver pushes in one transaction.
//!
//! A transaction that we refuse comes again for ever, without its to-device messages. So everything is taken that can
//! be taken, and what cannot is counted.

use serde_json::value::RawValue;

use crate::json::{Entries, list, owned_object};

/// A transaction with its parts still unread. Lists hold objects only.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// Room events, in the order of the rooms.
    pub events: Vec<Box<RawValue>>,
    /// Typing, receipts, presence; see [`crate::ephemeral`].
    pub ephemeral: Vec<Box<RawValue>>,
    /// To-device messages (MSC4203).
    pub to_device: Vec<Box<RawValue>>,
    /// An object, `{changed, left}` (MSC3202).
    pub device_lists: Option<Box<RawValue>>,
    /// An object, user to device to algorithm to count (MSC3202).
    pub one_time_key_counts: Option<Box<RawValue>>,
    /// An object, user to device to list of algorithms (MSC3202).
    pub unused_fallback_key_types: Option<Box<RawValue>>,
    /// How many known keys had the wrong type, and how many entries of lists were no objects.
    pub malformed: u32,
}

/// The body is no JSON object: there is nothing in it that could be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the transaction's body is no JSON object")]
pub struct BadTransaction;

impl Transaction {
    /// Reads a transaction's body. Where a key comes under its stable and its unstable name, the stable one counts.
    ///
    /// # Errors
    /// Only for a body that is no JSON object.
    pub fn parse(body: &[u8]) -> Result<Self, BadTransaction> {
        // A stray byte in one event must not cost the others.
        let text = String::from_utf8_lossy(body);
        let Entries(entries) = serde_json::from_str(&text).map_err(|_| BadTransaction)?;
        let mut parts = Parts::default();
        for (key, value) in &entries {
            parts.take(key, value);
        }
        Ok(parts.finish())
    }
}

/// Each kind under its stable and its unstable name.
#[derive(Default)]
struct Parts {
    events: Vec<Box<RawValue>>,
    ephemeral: [Vec<Box<RawValue>>; 2],
    to_device: [Vec<Box<RawValue>>; 2],
    device_lists: [Option<Box<RawValue>>; 2],
    key_counts: [Option<Box<RawValue>>; 2],
    fallback_types: [Option<Box<RawValue>>; 2],
    malformed: u32,
}

const STABLE: usize = 0;
const UNSTABLE: usize = 1;

impl Parts {
    fn take(&mut self, key: &str, value: &RawValue) {
        let bad = match key {
            "events" => extend(&mut self.events, value),
            "ephemeral" => extend(&mut self.ephemeral[STABLE], value),
            "de.sorunome.msc2409.ephemeral" => extend(&mut self.ephemeral[UNSTABLE], value),
            "to_device" => extend(&mut self.to_device[STABLE], value),
            "de.sorunome.msc2409.to_device" => extend(&mut self.to_device[UNSTABLE], value),
            "device_lists" => set(&mut self.device_lists[STABLE], value),
            "org.matrix.msc3202.device_lists" => set(&mut self.device_lists[UNSTABLE], value),
            "device_one_time_keys_count" | "device_one_time_key_counts" => {
                set(&mut self.key_counts[STABLE], value)
            }
            "org.matrix.msc3202.device_one_time_keys_count"
            | "org.matrix.msc3202.device_one_time_key_counts" => set(&mut self.key_counts[UNSTABLE], value),
            "device_unused_fallback_key_types" => set(&mut self.fallback_types[STABLE], value),
            "org.matrix.msc3202.device_unused_fallback_key_types" => {
                set(&mut self.fallback_types[UNSTABLE], value)
            }
            _ => 0,
        };
        self.malformed = self.malformed.saturating_add(bad);
    }

    fn finish(self) -> Transaction {
        Transaction {
            events: self.events,
            ephemeral: first_filled(self.ephemeral),
            to_device: first_filled(self.to_device),
            device_lists: first_set(self.device_lists),
            one_time_key_counts: first_set(self.key_counts),
            unused_fallback_key_types: first_set(self.fallback_types),
            malformed: self.malformed,
        }
    }
}

/// Adds the list's objects; returns how much was something else.
fn extend(into: &mut Vec<Box<RawValue>>, value: &RawValue) -> u32 {
    let Some(items) = list(value) else { return 1 };
    let before = into.len();
    into.extend(items.iter().filter_map(|item| owned_object(item)));
    let bad = items.len() - (into.len() - before);
    u32::try_from(bad).unwrap_or(u32::MAX)
}

fn set(into: &mut Option<Box<RawValue>>, value: &RawValue) -> u32 {
    match owned_object(value) {
        Some(object) => {
            *into = Some(object);
            0
        }
        None => 1,
    }
}

fn first_filled([stable, unstable]: [Vec<Box<RawValue>>; 2]) -> Vec<Box<RawValue>> {
    if stable.is_empty() { unstable } else { stable }
}

fn first_set([stable, unstable]: [Option<Box<RawValue>>; 2]) -> Option<Box<RawValue>> {
    stable.or(unstable)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty(r"{}", 0, 0, 0)]
    #[case::plain(r#"{"events":[{},{}]}"#, 2, 0, 0)]
    #[case::both_names(r#"{"ephemeral":[{}],"de.sorunome.msc2409.ephemeral":[{},{}]}"#, 0, 1, 0)]
    #[case::unstable_only(r#"{"de.sorunome.msc2409.ephemeral":[{},{}]}"#, 0, 2, 0)]
    #[case::stable_but_empty(r#"{"ephemeral":[],"de.sorunome.msc2409.ephemeral":[{}]}"#, 0, 1, 0)]
    #[case::wrong_types(r#"{"events":"x","ephemeral":{},"device_lists":[]}"#, 0, 0, 3)]
    #[case::wrong_entries(r#"{"events":[1,"x",null,[],{}]}"#, 1, 0, 4)]
    #[case::twice(r#"{"events":[{}],"events":[{}]}"#, 2, 0, 0)]
    #[case::unknown_keys(r#"{"com.example":7,"events":[{}]}"#, 1, 0, 0)]
    fn what_is_taken(
        #[case] body: &str,
        #[case] events: usize,
        #[case] ephemeral: usize,
        #[case] malformed: u32,
    ) {
        let got = Transaction::parse(body.as_bytes()).unwrap();
        assert_eq!((got.events.len(), got.ephemeral.len(), got.malformed), (events, ephemeral, malformed));
    }

    #[rstest]
    #[case("")]
    #[case("[]")]
    #[case("null")]
    #[case("{")]
    #[case(r#"{"events":[{]}"#)]
    #[case("{} {}")]
    fn no_object_is_no_transaction(#[case] body: &str) {
        assert!(Transaction::parse(body.as_bytes()).is_err(), "{body}");
    }

    #[test]
    fn both_spellings_of_the_key_counts_are_read() {
        for key in ["device_one_time_keys_count", "org.matrix.msc3202.device_one_time_key_counts"] {
            let body =
                format!(r#"{{"{key}":{{"@a:x":{{}}}},"org.matrix.msc3202.device_lists":{{"changed":[]}}}}"#);
            let got = Transaction::parse(body.as_bytes()).unwrap();
            assert_eq!(got.one_time_key_counts.unwrap().get(), r#"{"@a:x":{}}"#);
            assert_eq!(got.device_lists.unwrap().get(), r#"{"changed":[]}"#);
        }
    }

    #[test]
    fn odd_events_leave_the_others_alone() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(20_000), "}".repeat(20_000));
        let mut body =
            format!(r#"{{"events":[{deep},{{"a":1,"a":2}},{{"body":"\ud800\u0000"}},{{"raw":""#).into_bytes();
        body.extend_from_slice(b"\xff\xfe\"}, {\"last\": 1e999}]}");
        let got = Transaction::parse(&body).unwrap();
        assert_eq!((got.events.len(), got.malformed), (5, 0));
        assert_eq!(got.events[4].get(), r#"{"last": 1e999}"#);
    }

    proptest! {
        #[test]
        fn never_panics(body in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = Transaction::parse(&body);
        }
    }
}
