//! A homeserver's answers to key requests, read so that what one stranger uploaded does not cost the others theirs.

use std::collections::BTreeMap;

use ruma::{
    OneTimeKeyAlgorithm, OwnedDeviceId, OwnedUserId, UInt,
    api::client::keys::{claim_keys, get_keys, upload_keys},
    serde::Raw,
};
use serde_json::value::RawValue;

use super::CryptoError;
use crate::json::{Fields, owned_object, user_id};

fn fields(body: &RawValue) -> Result<Fields<'_>, CryptoError> {
    Fields::of(body).ok_or(CryptoError::Answer)
}

/// How many one-time keys are left. A homeserver that names none has none.
pub(super) fn keys_upload(body: &RawValue) -> Result<u64, CryptoError> {
    let counts = fields(body)?.object("one_time_key_counts").ok_or(CryptoError::Answer)?;
    Ok(counts.int("signed_curve25519").and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
}

/// As the SDK takes it.
pub(super) fn counts(left: u64) -> BTreeMap<OneTimeKeyAlgorithm, UInt> {
    [(OneTimeKeyAlgorithm::SignedCurve25519, UInt::new_saturating(left))].into()
}

pub(super) fn uploaded(left: u64) -> upload_keys::v3::Response {
    upload_keys::v3::Response::new(counts(left))
}

pub(super) fn keys_query(body: &RawValue) -> Result<get_keys::v3::Response, CryptoError> {
    let fields = fields(body)?;
    let mut answer = get_keys::v3::Response::new();
    answer.device_keys = by_user(&fields, "device_keys", |devices| {
        let devices = Fields::of(devices)?;
        let devices = devices.iter().filter_map(|(id, keys)| Some((device(id)?, raw(keys)?)));
        Some(devices.collect())
    });
    answer.master_keys = by_user(&fields, "master_keys", raw);
    answer.self_signing_keys = by_user(&fields, "self_signing_keys", raw);
    answer.user_signing_keys = by_user(&fields, "user_signing_keys", raw);
    answer.failures = failures(&fields);
    Ok(answer)
}

pub(super) fn keys_claim(body: &RawValue) -> Result<claim_keys::v3::Response, CryptoError> {
    let fields = fields(body)?;
    let keys = by_user(&fields, "one_time_keys", |devices| {
        let devices = Fields::of(devices)?;
        let devices = devices.iter().filter_map(|(id, keys)| {
            let keys = Fields::of(keys)?;
            let keys = keys.iter().filter_map(|(id, key)| Some((id.try_into().ok()?, raw(key)?)));
            Some((device(id)?, keys.collect()))
        });
        Some(devices.collect())
    });
    let mut answer = claim_keys::v3::Response::new(keys);
    answer.failures = failures(&fields);
    Ok(answer)
}

/// Users whose signatures the homeserver refused; empty is success.
pub(super) fn signatures_upload(body: &RawValue) -> Result<bool, CryptoError> {
    Ok(fields(body)?.object("failures").is_none_or(|failures| failures.is_empty()))
}

fn by_user<T>(
    fields: &Fields<'_>,
    name: &str,
    read: impl Fn(&RawValue) -> Option<T>,
) -> BTreeMap<OwnedUserId, T> {
    let users = fields.object(name).unwrap_or_default();
    users.iter().filter_map(|(user, value)| Some((user_id(user)?, read(value)?))).collect()
}

/// Servers that could not be asked; what they said is nobody's business.
fn failures(fields: &Fields<'_>) -> BTreeMap<String, serde_json::Value> {
    let failures = fields.object("failures").unwrap_or_default();
    failures.iter().map(|(server, _)| (server.to_owned(), serde_json::json!({}))).collect()
}

fn raw<T>(value: &RawValue) -> Option<Raw<T>> {
    owned_object(value).map(Raw::from_json)
}

/// Device ids may hold anything, within reason.
fn device(id: &str) -> Option<OwnedDeviceId> {
    (id.len() <= 512).then(|| id.into())
}

#[cfg(test)]
mod tests {
    use ruma::{device_id, user_id};
    use serde_json::{json, value::to_raw_value};

    use super::*;

    #[test]
    fn one_odd_device_leaves_the_others() {
        let body = json!({
            "device_keys": {"@a:x": {"D": {"k": 1}, "E": 7}, "nobody": {}, "@b:x": []},
            "master_keys": {"@a:x": {"m": 1}, "@b:x": null}, "failures": {"far.example": {"status": 503}}});
        let got = keys_query(&to_raw_value(&body).unwrap()).unwrap();
        assert_eq!(got.device_keys.len(), 1);
        assert!(got.device_keys[user_id!("@a:x")].contains_key(device_id!("D")));
        assert_eq!(got.device_keys[user_id!("@a:x")].len(), 1);
        assert_eq!((got.master_keys.len(), got.failures.len()), (1, 1));
    }

    #[test]
    fn one_odd_key_leaves_the_others() {
        let body = json!({"one_time_keys": {
            "@a:x": {"D": {"signed_curve25519:AAAA": {"key": "x"}, "odd": {"key": "x"}}}, "@b:x": {"E": "gone"}}});
        let got = keys_claim(&to_raw_value(&body).unwrap()).unwrap();
        assert_eq!(got.one_time_keys[user_id!("@a:x")][device_id!("D")].len(), 1);
        assert!(got.one_time_keys.get(user_id!("@b:x")).is_none_or(BTreeMap::is_empty));
    }

    #[test]
    fn no_count_is_a_count_of_zero_and_no_object_is_no_answer() {
        let left = |body: serde_json::Value| keys_upload(&to_raw_value(&body).unwrap()).ok();
        assert_eq!(left(json!({"one_time_key_counts": {"signed_curve25519": 5}})), Some(5));
        assert_eq!(left(json!({"one_time_key_counts": {}})), Some(0));
        assert_eq!(left(json!({})), None);
        assert_eq!(left(json!([])), None);
    }
}
