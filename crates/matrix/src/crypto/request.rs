//! What a machine wants sent, in a form that [`Client`](crate::Client) carries, and how the answers are read.

use std::collections::{BTreeMap, BTreeSet};

use matrix_sdk_crypto::types::requests::{
    AnyOutgoingRequest, KeysQueryRequest, ToDeviceRequest, UploadSigningKeysRequest,
};
use ruma::{
    OwnedTransactionId, OwnedUserId,
    api::client::keys::{claim_keys, upload_keys, upload_signatures},
};
use serde::Serialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use super::CryptoError;

/// One request, and the id under which the machine takes its answer.
#[derive(Clone, Debug)]
pub struct Outgoing {
    pub id: OwnedTransactionId,
    pub call: Call,
}

/// A call of the client-server API, made as the machine's device. Bodies are ready to be sent.
#[derive(Clone, Debug)]
pub enum Call {
    /// `POST /keys/upload`: device keys, one-time keys, fallback keys.
    KeysUpload(Box<RawValue>),
    /// `POST /keys/device_signing/upload`: the public cross-signing keys.
    SigningKeysUpload(Box<RawValue>),
    /// `POST /keys/signatures/upload`
    SignaturesUpload(Box<RawValue>),
    /// `POST /keys/query`: all devices of these users.
    KeysQuery(BTreeSet<OwnedUserId>),
    /// `POST /keys/claim`: a one-time key of each of these devices. One in flight per machine.
    KeysClaim(Box<RawValue>),
    /// `PUT /sendToDevice/{event_type}/{txn_id}`; the same id again is the same request.
    ToDevice { event_type: String, txn_id: OwnedTransactionId, body: Box<RawValue> },
}

impl Call {
    /// `None` for what Parlour never sends: verification messages in rooms.
    pub(super) fn from_sdk(request: &AnyOutgoingRequest) -> Result<Option<Self>, CryptoError> {
        Ok(Some(match request {
            AnyOutgoingRequest::KeysUpload(request) => Self::keys_upload(request)?,
            AnyOutgoingRequest::KeysQuery(request) => Self::keys_query(request),
            AnyOutgoingRequest::KeysClaim(request) => Self::keys_claim(request)?,
            AnyOutgoingRequest::ToDeviceRequest(request) => Self::to_device(request)?,
            AnyOutgoingRequest::SignatureUpload(request) => Self::signatures(request)?,
            AnyOutgoingRequest::RoomMessage(_) => return Ok(None),
        }))
    }

    pub(super) fn keys_upload(request: &upload_keys::v3::Request) -> Result<Self, CryptoError> {
        let mut body = serde_json::Map::new();
        if let Some(keys) = &request.device_keys {
            body.insert("device_keys".into(), json!(keys));
        }
        for (name, keys) in
            [("one_time_keys", &request.one_time_keys), ("fallback_keys", &request.fallback_keys)]
        {
            if !keys.is_empty() {
                body.insert(name.into(), json!(keys));
            }
        }
        raw(&body).map(Self::KeysUpload)
    }

    /// Of an upload that shows a device, the one-time keys and the fallback key only.
    #[must_use]
    pub fn one_time_keys_alone(&self) -> Option<Self> {
        let Self::KeysUpload(body) = self else { return None };
        let mut body: BTreeMap<String, Box<RawValue>> = serde_json::from_str(body.get()).ok()?;
        body.remove("device_keys")?;
        raw(&body).ok().map(Self::KeysUpload)
    }

    /// An upload that shows a device, with the signatures of it that would be uploaded next.
    pub(super) fn signed(&self, signatures: &Self) -> Option<Self> {
        let (Self::KeysUpload(body), Self::SignaturesUpload(signatures)) = (self, signatures) else {
            return None;
        };
        let mut body: Value = serde_json::from_str(body.get()).ok()?;
        let keys = body.get_mut("device_keys")?;
        let (user, device) = (keys["user_id"].as_str()?.to_owned(), keys["device_id"].as_str()?.to_owned());
        let signatures: Value = serde_json::from_str(signatures.get()).ok()?;
        let added = signatures[&user][&device]["signatures"][&user].as_object()?.clone();
        keys["signatures"][&user].as_object_mut()?.extend(added);
        raw(&body).ok().map(Self::KeysUpload)
    }

    fn keys_query(request: &KeysQueryRequest) -> Self {
        Self::KeysQuery(request.device_keys.keys().cloned().collect())
    }

    pub(super) fn keys_claim(request: &claim_keys::v3::Request) -> Result<Self, CryptoError> {
        raw(&json!({"timeout": 10_000, "one_time_keys": request.one_time_keys})).map(Self::KeysClaim)
    }

    pub(super) fn to_device(request: &ToDeviceRequest) -> Result<Self, CryptoError> {
        #[derive(Serialize)]
        struct Body<'a, T> {
            messages: &'a T,
        }
        let body = raw(&Body { messages: &request.messages })?;
        Ok(Self::ToDevice {
            event_type: request.event_type.to_string(),
            txn_id: request.txn_id.clone(),
            body,
        })
    }

    pub(super) fn signatures(request: &upload_signatures::v3::Request) -> Result<Self, CryptoError> {
        raw(&request.signed_keys).map(Self::SignaturesUpload)
    }

    pub(super) fn signing_keys(request: &UploadSigningKeysRequest) -> Result<Self, CryptoError> {
        let keys = [
            ("master_key", &request.master_key),
            ("self_signing_key", &request.self_signing_key),
            ("user_signing_key", &request.user_signing_key),
        ];
        let keys = keys.into_iter().filter_map(|(name, key)| Some((name, key.as_ref()?)));
        raw(&keys.collect::<BTreeMap<_, _>>()).map(Self::SigningKeysUpload)
    }
}

/// The SDK's own types always serialise; one that does not is a fault in it, not in us.
fn raw(value: &impl Serialize) -> Result<Box<RawValue>, CryptoError> {
    to_raw_value(value).map_err(|_| CryptoError::Sdk("a request cannot be written down".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(body: &serde_json::Value) -> Option<String> {
        let call = Call::KeysUpload(to_raw_value(body).unwrap()).one_time_keys_alone()?;
        let Call::KeysUpload(body) = call else { return None };
        Some(body.get().to_owned())
    }

    #[test]
    fn a_device_is_shown_with_its_signatures() {
        let keys = |signatures: Value| json!({"user_id": "@a:x", "device_id": "D", "signatures": signatures});
        let body = json!({"device_keys": keys(json!({"@a:x": {"own": "s"}})), "one_time_keys": {"k": 1}});
        let upload = Call::KeysUpload(to_raw_value(&body).unwrap());
        let added = json!({"@a:x": {"D": keys(json!({"@a:x": {"cross": "t"}}))}});
        let added = Call::SignaturesUpload(to_raw_value(&added).unwrap());
        let Some(Call::KeysUpload(signed)) = upload.signed(&added) else { panic!("not signed") };
        let signed: Value = serde_json::from_str(signed.get()).unwrap();
        assert_eq!(signed["device_keys"], keys(json!({"@a:x": {"cross": "t", "own": "s"}})));
        assert_eq!(signed["one_time_keys"], json!({"k": 1}));
        assert!(added.signed(&upload).is_none());
    }

    #[test]
    fn one_time_keys_go_without_the_device() {
        let all = json!({"device_keys": {"k": 1}, "one_time_keys": {"a": 2}, "fallback_keys": {"b": 3}});
        assert_eq!(alone(&all).unwrap(), r#"{"fallback_keys":{"b":3},"one_time_keys":{"a":2}}"#);
        assert_eq!(alone(&json!({"one_time_keys": {"a": 2}})), None, "no device is shown");
        assert!(Call::KeysQuery(BTreeSet::new()).one_time_keys_alone().is_none());
    }
}
