//! What a transaction brings for puppets' devices, sorted by device (MSC4203, MSC3202). Read leniently: what has the
//! wrong form is left out and counted, the rest stays.

use std::collections::BTreeMap;

use ruma::{OwnedDeviceId, OwnedUserId};
use serde_json::value::RawValue;

use crate::{
    Transaction,
    json::{Fields, list, string, user_id},
};

/// A puppet's device.
pub type DeviceKey = (OwnedUserId, OwnedDeviceId);

/// How many keys the homeserver has left of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyCounts {
    pub one_time_keys: u64,
    /// `None` where the homeserver does not say.
    pub fallback_unused: Option<bool>,
}

/// What a homeserver tells one device at a time.
#[derive(Clone, Debug, Default)]
pub struct DeviceNews {
    pub to_device: Vec<Box<RawValue>>,
    /// People whose devices or identity may have changed.
    pub changed: Vec<OwnedUserId>,
    /// `None` where nothing was said.
    pub counts: Option<KeyCounts>,
}

impl DeviceNews {
    /// The same message by message, and the rest last.
    #[must_use]
    pub fn pieces(self) -> Vec<Self> {
        let rest = Self { to_device: vec![], ..self.clone() };
        let messages = self.to_device.into_iter();
        messages.map(|message| Self { to_device: vec![message], ..Self::default() }).chain([rest]).collect()
    }
}

/// The crypto side of one transaction.
#[derive(Clone, Debug, Default)]
pub struct Parcels {
    to_device: BTreeMap<DeviceKey, Vec<Box<RawValue>>>,
    counts: BTreeMap<DeviceKey, KeyCounts>,
    /// People whose devices or identity may have changed. Every machine that keeps track of one of them has to hear.
    pub changed: Vec<OwnedUserId>,
    /// To-device messages that name no device, and counts of the wrong form.
    pub odd: u32,
}

impl Parcels {
    #[must_use]
    pub fn of(transaction: &Transaction) -> Self {
        let mut parcels = Self::default();
        for message in &transaction.to_device {
            parcels.take_message(message);
        }
        parcels.take_counts(
            transaction.one_time_key_counts.as_deref(),
            transaction.unused_fallback_key_types.as_deref(),
        );
        parcels.changed = changed(transaction.device_lists.as_deref());
        parcels
    }

    /// Nothing of it concerns any device.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to_device.is_empty() && self.counts.is_empty() && self.changed.is_empty()
    }

    /// The devices that messages came for.
    pub fn receivers(&self) -> impl Iterator<Item = &DeviceKey> {
        self.to_device.keys()
    }

    /// Counts as the homeserver gave them: all devices in the room of an event, changed or not. Compare with what was
    /// said before, and open no machine for the same numbers.
    pub fn counts(&self) -> impl Iterator<Item = (&DeviceKey, KeyCounts)> {
        self.counts.iter().map(|(device, counts)| (device, *counts))
    }

    /// What is here for one device; its messages are handed out once.
    pub fn take(&mut self, device: &DeviceKey) -> DeviceNews {
        DeviceNews {
            to_device: self.to_device.remove(device).unwrap_or_default(),
            changed: self.changed.clone(),
            counts: self.counts.get(device).copied(),
        }
    }

    fn take_message(&mut self, message: &RawValue) {
        let receiver = Fields::of(message).and_then(|fields| {
            Some((fields.user_id("to_user_id")?, OwnedDeviceId::from(fields.str("to_device_id")?)))
        });
        match receiver {
            Some(device) => self.to_device.entry(device).or_default().push(message.to_owned()),
            None => self.odd = self.odd.saturating_add(1),
        }
    }

    fn take_counts(&mut self, counts: Option<&RawValue>, fallback: Option<&RawValue>) {
        let unused = fallback.map(by_device).unwrap_or_default();
        for (device, counts) in counts.map(by_device).unwrap_or_default() {
            let unused = unused.get(&device).copied();
            match key_counts(Some(counts), unused) {
                Some(counts) => drop(self.counts.insert(device, counts)),
                None => self.odd = self.odd.saturating_add(1),
            }
        }
    }
}

/// `{changed, left}`. Who left needs no telling: who is in a room is known from the room.
pub(crate) fn changed(lists: Option<&RawValue>) -> Vec<OwnedUserId> {
    let users = lists.and_then(Fields::of).and_then(|lists| lists.list("changed")).unwrap_or_default();
    users.into_iter().filter_map(|user| user_id(&string(user)?)).collect()
}

/// Counts by algorithm, and the list of algorithms with an unused fallback key. No count in an object means zero:
/// Synapse leaves an algorithm out when nothing is left of it.
pub(crate) fn key_counts(counts: Option<&RawValue>, unused: Option<&RawValue>) -> Option<KeyCounts> {
    let left = Fields::of(counts?)?.int("signed_curve25519").unwrap_or(0);
    let unused = unused.and_then(list).map(|algorithms| {
        algorithms.into_iter().any(|name| string(name).as_deref() == Some("signed_curve25519"))
    });
    Some(KeyCounts { one_time_keys: u64::try_from(left).unwrap_or(0), fallback_unused: unused })
}

/// User to device to value.
fn by_device(users: &RawValue) -> BTreeMap<DeviceKey, &RawValue> {
    let mut all = BTreeMap::new();
    for (user, devices) in Fields::of(users).unwrap_or_default().iter() {
        let Some((user, devices)) = user_id(user).zip(Fields::of(devices)) else { continue };
        all.extend(devices.iter().map(|(device, value)| ((user.clone(), device.into()), value)));
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn parcels(body: &Value) -> Parcels {
        Parcels::of(&Transaction::parse(body.to_string().as_bytes()).unwrap())
    }

    fn device(user: &str, device: &str) -> DeviceKey {
        (OwnedUserId::try_from(user).unwrap(), device.into())
    }

    #[test]
    fn each_device_gets_its_own() {
        let mut got = parcels(&json!({
            "to_device": [
                {"to_user_id": "@a:x", "to_device_id": "D", "type": "m.one"},
                {"to_user_id": "@b:x", "to_device_id": "D", "type": "m.two"},
                {"to_user_id": "@a:x", "to_device_id": "D", "type": "m.three"},
                {"to_user_id": "@a:x", "to_device_id": "OLD"},
                {"to_user_id": "@a:x"}, {"to_user_id": 7, "to_device_id": "D"}],
            "device_lists": {"changed": ["@p:x", "nobody", 7, "@q:x"], "left": ["@r:x"]}}));
        assert_eq!((got.odd, got.receivers().count()), (2, 3));
        let news = got.take(&device("@a:x", "D"));
        let kinds: Vec<_> =
            news.to_device.iter().map(|m| Fields::of(m).unwrap().str("type").unwrap()).collect();
        assert_eq!(kinds, ["m.one", "m.three"]);
        assert_eq!(news.changed, ["@p:x", "@q:x"]);
        assert_eq!(news.counts, None);
        assert!(got.take(&device("@a:x", "D")).to_device.is_empty(), "handed out once");
        assert_eq!(got.take(&device("@b:x", "D")).to_device.len(), 1);
    }

    #[test]
    fn in_pieces_nothing_is_lost_and_each_message_stands_alone() {
        let mut got = parcels(&json!({
            "to_device": [
                {"to_user_id": "@a:x", "to_device_id": "D", "type": "m.one"},
                {"to_user_id": "@a:x", "to_device_id": "D", "type": "m.two"}],
            "device_one_time_keys_count": {"@a:x": {"D": {"signed_curve25519": 4}}},
            "device_lists": {"changed": ["@p:x"]}}));
        let whole = got.take(&device("@a:x", "D"));
        let pieces = whole.clone().pieces();
        let one_by_one: Vec<_> = pieces.iter().map(|piece| piece.to_device.len()).collect();
        assert_eq!(one_by_one, [1, 1, 0]);
        let messages = pieces.iter().flat_map(|piece| &piece.to_device).map(|m| m.get());
        assert!(messages.eq(whole.to_device.iter().map(|m| m.get())));
        let rest = &pieces[2];
        assert_eq!((&rest.changed, rest.counts), (&whole.changed, whole.counts));
        assert!(pieces[..2].iter().all(|piece| piece.changed.is_empty() && piece.counts.is_none()));
    }

    #[test]
    fn no_count_means_none_left() {
        let got = parcels(&json!({
            "org.matrix.msc3202.device_one_time_keys_count": {"@a:x": {
                "D": {"signed_curve25519": 4}, "E": {}, "F": {"curve25519": 9}, "G": 7, "H": {"signed_curve25519": -1}}},
            "org.matrix.msc3202.device_unused_fallback_key_types": {"@a:x": {
                "D": ["signed_curve25519"], "E": [], "F": {}}}}));
        let counts: Vec<_> =
            got.counts().map(|(d, c)| (d.1.to_string(), c.one_time_keys, c.fallback_unused)).collect();
        let expected = [("D", 4, Some(true)), ("E", 0, Some(false)), ("F", 0, None), ("H", 0, None)];
        assert_eq!(counts, expected.map(|(d, n, f)| (d.to_owned(), n, f)));
        assert_eq!(got.odd, 1);
    }

    proptest! {
        #[test]
        fn odd_shapes_never_panic(text in r#"[\[\]{}":,a@x0-9]{0,60}"#) {
            let body = format!(r#"{{"device_lists":{text},"to_device":[{text}],"device_one_time_keys_count":{text}}}"#);
            if let Ok(transaction) = Transaction::parse(body.as_bytes()) {
                let _ = Parcels::of(&transaction);
            }
        }
    }
}
