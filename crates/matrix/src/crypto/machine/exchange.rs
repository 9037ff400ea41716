//! Requests that a machine wants sent, and the answers to them.

use std::iter;

use matrix_sdk_crypto::types::requests::AnyIncomingResponse;
use ruma::{
    TransactionId, UserId,
    api::client::{
        keys::{upload_signatures, upload_signing_keys},
        to_device::send_event_to_device,
    },
};
use serde_json::value::RawValue;

use super::{Machine, guarded, receive::told};
use crate::crypto::{
    CryptoError, KeyCounts, answer,
    request::{Call, Outgoing},
};

impl Machine {
    /// Everything that wants to be sent now. Give each answer to [`Self::answer`] before calling this again: the SDK
    /// forgets about key queries in flight.
    ///
    /// # Errors
    /// See [`CryptoError`].
    pub async fn outgoing(&mut self) -> Result<Vec<Outgoing>, CryptoError> {
        let mut all = self.due().await?;
        // sessions that broke on the other side, and are to be made anew
        all.extend(self.claim(iter::empty()).await?);
        Ok(all)
    }

    /// All but claims.
    pub(super) async fn due(&mut self) -> Result<Vec<Outgoing>, CryptoError> {
        let mut all = vec![];
        for request in guarded(self.olm.outgoing_requests()).await? {
            if let Some(call) = Call::from_sdk(request.request())? {
                all.push(Outgoing { id: request.request_id().to_owned(), call });
            }
        }
        Ok(all)
    }

    /// A claim of one-time keys for devices of these users that we have no session with.
    pub(super) async fn claim(
        &mut self,
        users: impl Iterator<Item = &UserId>,
    ) -> Result<Option<Outgoing>, CryptoError> {
        let claim = guarded(self.olm.get_missing_sessions(users)).await?;
        claim.map(|(id, request)| Ok(Outgoing { id, call: Call::keys_claim(&request)? })).transpose()
    }

    /// A query for one user's devices that is not due by itself.
    pub fn query(&self, user: &UserId) -> Outgoing {
        let (id, request) = self.olm.query_keys_for_users([user]);
        Outgoing { id, call: Call::KeysQuery(request.device_keys.into_keys().collect()) }
    }

    /// Takes the body of a successful answer. Failed requests need no telling: they come up again.
    ///
    /// # Errors
    /// See [`CryptoError`]; the request counts as not answered then.
    pub async fn answer(&mut self, request: &Outgoing, body: &RawValue) -> Result<(), CryptoError> {
        let id = &*request.id;
        match &request.call {
            Call::KeysUpload(_) => self.keys_uploaded(id, answer::keys_upload(body)?).await,
            Call::KeysQuery(_) => {
                self.generation += 1;
                self.mark(id, &answer::keys_query(body)?).await
            }
            Call::KeysClaim(_) => self.mark(id, &answer::keys_claim(body)?).await,
            Call::ToDevice { .. } => self.mark(id, &send_event_to_device::v3::Response::new()).await,
            Call::SigningKeysUpload(_) => {
                let response = upload_signing_keys::v3::Response::new();
                self.mark(id, AnyIncomingResponse::SigningKeysUpload(&response)).await
            }
            Call::SignaturesUpload(_) if !answer::signatures_upload(body)? => Err(CryptoError::Answer),
            Call::SignaturesUpload(_) => self.mark(id, &upload_signatures::v3::Response::new()).await,
        }
    }

    async fn keys_uploaded(&mut self, id: &TransactionId, left: u64) -> Result<(), CryptoError> {
        self.mark(id, &answer::uploaded(told(left))).await?;
        let fallback_unused = self.counts.and_then(|counts| counts.fallback_unused);
        self.counts = Some(KeyCounts { one_time_keys: left, fallback_unused });
        Ok(())
    }

    async fn mark<'a>(
        &self,
        id: &TransactionId,
        response: impl Into<AnyIncomingResponse<'a>>,
    ) -> Result<(), CryptoError> {
        guarded(self.olm.mark_request_as_sent(id, response)).await
    }
}
