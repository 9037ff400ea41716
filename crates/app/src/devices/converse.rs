use std::sync::Arc;

use futures_util::future::join_all;
use parlour_matrix::{
    HsError,
    crypto::{CryptoError, Outgoing},
};
use serde_json::value::RawValue;

use super::{DeviceError, Held, Slot};
use crate::app::App;

/// After so many rounds of requests a machine is left alone until the next time.
const ROUNDS: usize = 10;

impl App {
    pub(crate) async fn hold(&self, slot: &Arc<Slot>) -> Result<Held, DeviceError> {
        slot.used(self.now());
        slot.hold(&self.keyring).await
    }

    /// Puts on disk what a machine has to remember.
    pub(crate) async fn commit_device(&self, held: &mut Held) -> Result<(), DeviceError> {
        if let Some(batch) = held.take() {
            self.store.write(move |tx| batch.put(tx)).await?;
        }
        held.committed();
        Ok(())
    }

    /// Carries requests one after the other and gives the machine the answers. Call it in a conversation.
    pub(super) async fn carry_requests(
        &self,
        slot: &Arc<Slot>,
        requests: Vec<Outgoing>,
    ) -> Result<(), DeviceError> {
        for request in requests {
            self.carry_at_once(slot, vec![request]).await?;
        }
        Ok(())
    }

    /// The same of such as do not need each other's answers.
    pub(super) async fn carry_at_once(
        &self,
        slot: &Arc<Slot>,
        requests: Vec<Outgoing>,
    ) -> Result<(), DeviceError> {
        self.run_known().await?;
        let device = slot.device().ok_or(DeviceError::NoDevice)?;
        let calls = requests.iter().map(|request| self.client.carry(device.who(&slot.user), &request.call));
        let answers = join_all(calls).await;
        let mut all = Ok(());
        for (request, answer) in requests.iter().zip(answers) {
            all = all.and(self.take_answer(slot, request, answer).await);
        }
        all
    }

    async fn take_answer(
        &self,
        slot: &Arc<Slot>,
        request: &Outgoing,
        answer: Result<Box<RawValue>, HsError>,
    ) -> Result<(), DeviceError> {
        if let Err(error) = &answer {
            self.device_refused(slot, error).await;
        }
        let answer = answer?;
        let mut held = self.hold(slot).await?;
        let taken = held.answer(request, &answer).await;
        self.after_call(&mut held, taken).await
    }

    /// A device that the homeserver does not know any more is given up, and another one made.
    pub(crate) async fn device_refused(&self, slot: &Arc<Slot>, error: &HsError) {
        if is_gone(error) {
            self.give_up_device(slot).await;
        }
    }

    /// Commits what a call of a machine left behind, whatever came of the call.
    pub(super) async fn after_call<T>(
        &self,
        held: &mut Held,
        result: Result<T, CryptoError>,
    ) -> Result<T, DeviceError> {
        match result {
            // not committed: it is opened anew from what is on disk
            Err(error) if error.spoils_the_machine() => {
                held.spoil();
                Err(error.into())
            }
            result => {
                self.commit_device(held).await?;
                Ok(result?)
            }
        }
    }

    /// Sends all that a machine wants sent.
    pub(crate) async fn settle_device(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let _conversation = slot.conversation.lock().await;
        self.settle_in_conversation(slot).await
    }

    pub(super) async fn settle_in_conversation(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        for _ in 0..ROUNDS {
            let requests = {
                let mut held = self.hold(slot).await?;
                let requests = held.outgoing().await;
                self.after_call(&mut held, requests).await?
            };
            if requests.is_empty() {
                return Ok(());
            }
            self.carry_requests(slot, requests).await?;
        }
        Ok(())
    }

    /// The same in the background.
    pub(crate) fn settle_later(self: &Arc<Self>, slot: Arc<Slot>) {
        let app = self.clone();
        self.beside(async move {
            if let Err(error) = app.settle_device(&slot).await {
                tracing::info!(%error, user = %slot.user, "a device's requests are not all answered yet");
            }
        });
    }
}

/// The homeserver has no such device any more.
fn is_gone(error: &HsError) -> bool {
    error.has_code("M_UNKNOWN_DEVICE") || error.has_code("M_UNKNOWN_TOKEN")
}
