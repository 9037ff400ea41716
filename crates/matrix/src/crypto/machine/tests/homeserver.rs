//! As much of a homeserver as keys need, in memory.

use std::collections::BTreeMap;

use ruma::{OwnedDeviceId, OwnedUserId};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::crypto::{Call, DeviceNews, KeyCounts, machine::Machine};

type Device = (OwnedUserId, OwnedDeviceId);

#[derive(Default)]
pub(super) struct Homeserver {
    devices: BTreeMap<Device, Value>,
    one_time_keys: BTreeMap<Device, serde_json::Map<String, Value>>,
    fallback_keys: BTreeMap<Device, serde_json::Map<String, Value>>,
    /// `master_key` and so on, by user.
    signing_keys: BTreeMap<OwnedUserId, serde_json::Map<String, Value>>,
    inboxes: BTreeMap<Device, Vec<Value>>,
    /// Names of the calls made.
    pub(super) calls: Vec<&'static str>,
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

impl Homeserver {
    pub(super) fn carry(&mut self, who: &Machine, call: &Call) -> Box<RawValue> {
        let me = (who.user_id().to_owned(), who.device_id().to_owned());
        let parsed = |body: &RawValue| serde_json::from_str::<Value>(body.get()).unwrap();
        let (name, answer) = match call {
            Call::KeysUpload(body) => ("upload", self.upload(me, &parsed(body))),
            Call::SigningKeysUpload(body) => {
                self.signing_keys.entry(me.0).or_default().extend(parsed(body).as_object().unwrap().clone());
                ("signing", json!({}))
            }
            Call::SignaturesUpload(body) => ("signatures", self.sign(&parsed(body))),
            Call::KeysQuery(users) => ("query", self.query(&me.0, users.iter())),
            Call::KeysClaim(body) => ("claim", self.claim(&parsed(body))),
            Call::ToDevice { event_type, body, .. } => {
                ("to-device", self.send(&me.0, event_type, &parsed(body)["messages"]))
            }
        };
        self.calls.push(name);
        raw(&answer)
    }

    fn upload(&mut self, me: Device, body: &Value) -> Value {
        if body["device_keys"].is_object() {
            self.devices.insert(me.clone(), body["device_keys"].clone());
        }
        if let Some(keys) = body["fallback_keys"].as_object() {
            self.fallback_keys.insert(me.clone(), keys.clone());
        }
        let keys = self.one_time_keys.entry(me).or_default();
        keys.extend(body["one_time_keys"].as_object().cloned().unwrap_or_default());
        json!({"one_time_key_counts": {"signed_curve25519": keys.len()}})
    }

    /// Adds signatures to the device or key that they are for.
    fn sign(&mut self, body: &Value) -> Value {
        for (user, objects) in body.as_object().unwrap() {
            let user = OwnedUserId::try_from(user.as_str()).unwrap();
            for (id, signed) in objects.as_object().unwrap() {
                let device = self.devices.get_mut(&(user.clone(), id.as_str().into()));
                let keys = self.signing_keys.entry(user.clone()).or_default();
                let key = keys.values_mut().find(|key| key["keys"].get(format!("ed25519:{id}")).is_some());
                let Some(target) = device.or(key) else { return json!({"failures": {"x": {}}}) };
                for (signer, signatures) in signed["signatures"].as_object().unwrap() {
                    for (key, signature) in signatures.as_object().unwrap() {
                        target["signatures"][signer][key] = signature.clone();
                    }
                }
            }
        }
        json!({})
    }

    fn query<'a>(&self, me: &OwnedUserId, users: impl Iterator<Item = &'a OwnedUserId>) -> Value {
        let mut answer = json!({"device_keys": {}});
        for user in users {
            answer["device_keys"][user.as_str()] = json!({});
            for ((_, device), keys) in self.devices.iter().filter(|((owner, _), _)| owner == user) {
                answer["device_keys"][user.as_str()][device.as_str()] = keys.clone();
            }
            for (name, key) in self.signing_keys.get(user).into_iter().flatten() {
                if name != "user_signing_key" || user == me {
                    answer[format!("{name}s")][user.as_str()] = key.clone();
                }
            }
        }
        answer
    }

    fn claim(&mut self, body: &Value) -> Value {
        let mut answer = json!({"one_time_keys": {}});
        for (user, devices) in body["one_time_keys"].as_object().unwrap() {
            for device in devices.as_object().unwrap().keys() {
                let place = (OwnedUserId::try_from(user.as_str()).unwrap(), device.as_str().into());
                let keys = self.one_time_keys.entry(place.clone()).or_default();
                let first = keys.keys().next().cloned();
                let key = first.and_then(|id| Some((id.clone(), keys.remove(&id)?)));
                let fallback = || self.fallback_keys.get(&place)?.clone().into_iter().next();
                if let Some((id, key)) = key.or_else(fallback) {
                    answer["one_time_keys"][user][device] = json!({id: key});
                }
            }
        }
        answer
    }

    fn send(&mut self, sender: &OwnedUserId, event_type: &str, messages: &Value) -> Value {
        for (user, devices) in messages.as_object().unwrap() {
            for (device, content) in devices.as_object().unwrap() {
                let place = (OwnedUserId::try_from(user.as_str()).unwrap(), device.as_str().into());
                let event = json!({"type": event_type, "sender": sender, "content": content});
                self.inboxes.entry(place).or_default().push(event);
            }
        }
        json!({})
    }

    /// What waits for a device, with its counts.
    pub(super) fn news(&mut self, who: &Machine) -> DeviceNews {
        let me = (who.user_id().to_owned(), who.device_id().to_owned());
        let left = self.one_time_keys.get(&me).map_or(0, serde_json::Map::len);
        DeviceNews {
            to_device: self.inboxes.remove(&me).unwrap_or_default().iter().map(raw).collect(),
            changed: vec![],
            counts: Some(KeyCounts { one_time_keys: left as u64, fallback_unused: Some(true) }),
        }
    }

    pub(super) fn one_time_keys_of(&self, who: &Machine) -> usize {
        let me = (who.user_id().to_owned(), who.device_id().to_owned());
        self.one_time_keys.get(&me).map_or(0, serde_json::Map::len)
    }

    /// Devices that have something waiting.
    pub(super) fn receivers(&self) -> Vec<String> {
        self.inboxes.keys().map(|(user, _)| user.to_string()).collect()
    }

    pub(super) fn remove_device(&mut self, user: &ruma::UserId, device: &ruma::DeviceId) {
        self.devices.remove(&(user.to_owned(), device.to_owned()));
    }
}
