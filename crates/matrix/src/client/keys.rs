//! Keys: what a device publishes, what it asks for, and messages from device to device.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use http::Method;
use ruma::{OwnedDeviceId, OwnedUserId, UserId};
use serde_json::{Value, json, value::RawValue};

use super::{
    AsDevice, Client, HsError, SLOW,
    request::{Request, V3},
};
use crate::{
    crypto::Call,
    json::{Fields, user_id},
};

impl Client {
    /// Carries a machine's request. The answer's body goes to [`Machine::answer`](crate::crypto::Machine::answer).
    ///
    /// # Errors
    /// See [`HsError`]. All of these may be made again: uploads replace or add, queries read, claims use another key
    /// up, and a to-device message keeps its transaction id.
    pub async fn carry(&self, who: AsDevice<'_>, call: &Call) -> Result<Box<RawValue>, HsError> {
        match call {
            Call::KeysUpload(body) => self.keys_upload(who, body).await,
            Call::SigningKeysUpload(body) => self.device_signing_upload(who, body).await,
            Call::SignaturesUpload(body) => self.signatures_upload(who, body).await,
            Call::KeysQuery(users) => self.keys_query(who, users).await,
            Call::KeysClaim(body) => self.keys_claim(who, body).await,
            Call::ToDevice { event_type, txn_id, body } => {
                self.send_to_device(who, event_type, txn_id.as_str(), body).await
            }
        }
    }

    /// # Errors
    /// See [`HsError`]; refused where the device is not there.
    pub async fn keys_upload(&self, who: AsDevice<'_>, body: &RawValue) -> Result<Box<RawValue>, HsError> {
        self.keys("keys_upload", &["keys", "upload"], who, body).call().await
    }

    /// # Errors
    /// See [`HsError`]; 401 where replacing keys takes a password.
    pub async fn device_signing_upload(
        &self,
        who: AsDevice<'_>,
        body: &RawValue,
    ) -> Result<Box<RawValue>, HsError> {
        self.keys("device_signing_upload", &["keys", "device_signing", "upload"], who, body).call().await
    }

    /// # Errors
    /// See [`HsError`]. Refused signatures come in a success, under `failures`.
    pub async fn signatures_upload(
        &self,
        who: AsDevice<'_>,
        body: &RawValue,
    ) -> Result<Box<RawValue>, HsError> {
        self.keys("signatures_upload", &["keys", "signatures", "upload"], who, body).call().await
    }

    /// All devices and cross-signing keys of these users. May ask other servers.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn keys_query(
        &self,
        who: AsDevice<'_>,
        users: impl IntoIterator<Item = &OwnedUserId>,
    ) -> Result<Box<RawValue>, HsError> {
        let request = self.request("keys_query", Method::POST, V3, &["keys", "query"]).of_device(who);
        request.json(&query_of(users)).timeout(SLOW).call().await
    }

    /// The ids of the devices that these users have keys for on the homeserver, asked as `by`. Users that it says nothing
    /// of are left out.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn devices_with_keys(
        &self,
        by: &UserId,
        users: impl IntoIterator<Item = &OwnedUserId>,
    ) -> Result<BTreeMap<OwnedUserId, BTreeSet<OwnedDeviceId>>, HsError> {
        let request = self.request("devices_with_keys", Method::POST, V3, &["keys", "query"]).by(by);
        let raw: Box<RawValue> = request.json(&query_of(users)).timeout(SLOW).call().await?;
        let all = Fields::of(&raw).and_then(|answer| answer.object("device_keys")).unwrap_or_default();
        let devices = |keys| Some(Fields::of(keys)?.iter().map(|(device, _)| device.into()).collect());
        Ok(all.iter().filter_map(|(user, keys)| Some((user_id(user)?, devices(keys)?))).collect())
    }

    /// # Errors
    /// See [`HsError`].
    pub async fn keys_claim(&self, who: AsDevice<'_>, body: &RawValue) -> Result<Box<RawValue>, HsError> {
        self.keys("keys_claim", &["keys", "claim"], who, body).timeout(SLOW).call().await
    }

    /// Messages of one type to devices, `{"messages": {user: {device: content}}}`. The same id again is the same call.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn send_to_device(
        &self,
        who: AsDevice<'_>,
        event_type: &str,
        send_txn_id: &str,
        body: &RawValue,
    ) -> Result<Box<RawValue>, HsError> {
        let path = ["sendToDevice", event_type, send_txn_id];
        let request = self.request("send_to_device", Method::PUT, V3, &path).of_device(who);
        request.bytes(Bytes::copy_from_slice(body.get().as_bytes())).call().await
    }

    fn keys(&self, name: &'static str, path: &[&str], who: AsDevice<'_>, body: &RawValue) -> Request<'_> {
        let body = Bytes::copy_from_slice(body.get().as_bytes());
        self.request(name, Method::POST, V3, path).of_device(who).bytes(body)
    }
}

fn query_of<'a>(users: impl IntoIterator<Item = &'a OwnedUserId>) -> Value {
    let all: serde_json::Map<_, _> = users.into_iter().map(|user| (user.to_string(), json!([]))).collect();
    json!({"timeout": 10_000, "device_keys": all})
}
