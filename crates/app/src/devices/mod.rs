//! The puppets' devices: made before a puppet's first encrypted room, opened on demand, let go when idle.
//!
//! What a machine has in memory is what is on disk whenever nobody holds it: [`Held`] sees to that. Whoever wants
//! several machines at once takes [`Keyring::many`] first; all others hold one at a time and wait for nothing else but
//! the store meanwhile.

mod awaited;
mod converse;
mod held;
mod history;
mod keyring;
mod lost;
mod make;
mod pull;
mod reads;
mod seal;

use std::sync::Arc;

pub(crate) use held::Held;
pub(crate) use keyring::{Keyring, Slot};
use parlour_domain::fault::{Code, Fault};
use parlour_matrix::{HsError, crypto::CryptoError};
use parlour_store::StoreError;
pub(crate) use seal::ciphertext_digest;

use crate::{app::App, survey::SurveyError};

/// What keeps a device from its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeviceError {
    #[error(transparent)]
    Crypto(#[from] CryptoError),
    #[error(transparent)]
    Homeserver(#[from] HsError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the puppet has no device")]
    NoDevice,
    #[error("the room's state has not been read")]
    StateUnknown,
    #[error("the message is too large once encrypted")]
    TooLarge,
    #[error("keys are asked for again and again")]
    NoEnd,
    #[error("it is not known yet whether the database is an old one put back")]
    RunUnknown,
}

impl From<SurveyError> for DeviceError {
    fn from(error: SurveyError) -> Self {
        match error {
            SurveyError::Homeserver(error) => Self::Homeserver(error),
            SurveyError::Store(error) => Self::Store(error),
        }
    }
}

impl App {
    /// In the background, beside at most a few others: what concerns two hundred devices at the same moment would open as
    /// many connections.
    pub(crate) fn beside(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let app = self.clone();
        self.tasks.spawn(async move {
            if let Ok(_place) = app.keyring.places.acquire().await
                && !app.tasks.stopping()
            {
                work.await;
            }
        });
    }

    /// What a caller is told: nothing was sent, and it may be tried again.
    pub(crate) fn device_fault(&self, error: DeviceError) -> Fault {
        match error {
            DeviceError::Homeserver(error @ (HsError::NotSent(_) | HsError::Limited { .. })) => {
                self.homeserver_fault(error)
            }
            DeviceError::TooLarge => {
                Fault::new(Code::InvalidMessage, "The message is too large for Matrix. Shorten it.").field("text")
            }
            DeviceError::Crypto(CryptoError::Algorithm) => Fault::new(
                Code::DependencyUnavailable,
                "This room is encrypted in a way that this server does not speak. Nothing was sent. Ask its people, or \
                 speak in another room.",
            ),
            error => Fault::new(
                Code::DependencyUnavailable,
                "The keys of this encrypted room cannot be set up right now. Nothing was sent in plain text. Try the \
                 same call again in a moment, with the same submissionId.",
            )
            .because(error),
        }
    }
}
