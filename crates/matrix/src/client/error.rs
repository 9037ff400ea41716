//! What a failed call means for whoever has to decide what comes next.

use std::error::Error;

/// A call that did not bring what was asked for. Holds no token, no address with one, and no text of a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HsError {
    /// Nothing reached the homeserver (name not found, connection refused, TLS): the call may be made again as new.
    #[error("the homeserver cannot be reached: {0}")]
    NotSent(String),
    /// It may have happened or not (timeout, connection lost, 5xx, an answer that cannot be read): look before doing
    /// it again, or repeat it under the same transaction id.
    #[error("the homeserver gave no clear answer: {0}")]
    Unknown(String),
    /// Too many calls; it did not happen. Waiting time in milliseconds, where the homeserver told one.
    #[error("the homeserver asks us to slow down")]
    Limited { retry_after_ms: Option<u64> },
    /// It did not happen and will not as it stands. `errcode` is empty where the answer was none of Matrix (then a
    /// proxy or another service gave it); `message` is the homeserver's own, cut to 300 characters.
    #[error("the homeserver refused ({status} {errcode}): {message}")]
    Refused { status: u16, errcode: String, message: String },
}

impl HsError {
    /// The user may not do this: not in the room, banned, no power, or not ours.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.has_code("M_FORBIDDEN")
    }

    /// The homeserver's own word, the same however often one asks. A proxy's is not: the homeserver may be back soon.
    #[must_use]
    pub fn is_final(&self) -> bool {
        // a token or a device can be had anew
        let of_now = |code: &str| ["", "M_UNKNOWN_TOKEN", "M_UNKNOWN_DEVICE"].contains(&code);
        matches!(self, Self::Refused { errcode, .. } if !of_now(errcode)) || self.is_too_large()
    }

    /// The homeserver has no such endpoint (spec, "Standard error response": `M_UNRECOGNIZED`).
    #[must_use]
    pub fn is_unrecognized(&self) -> bool {
        self.has_code("M_UNRECOGNIZED")
    }

    /// The event or the body is larger than the homeserver, or a proxy before it, takes.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.has_code("M_TOO_LARGE") || matches!(self, Self::Refused { status: 413, .. })
    }

    /// The homeserver itself says that there is no such thing; a proxy's 404 is not meant.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.has_code("M_NOT_FOUND")
    }

    /// Whether it was refused with this `errcode`.
    #[must_use]
    pub fn has_code(&self, code: &str) -> bool {
        matches!(self, Self::Refused { errcode, .. } if errcode == code)
    }

    /// A failure below HTTP, or in its head.
    pub(crate) fn transport(error: reqwest::Error) -> Self {
        let certain = error.is_connect() || error.is_builder();
        let cause = chain(&error.without_url());
        if certain { Self::NotSent(cause) } else { Self::Unknown(cause) }
    }
}

/// An error and its causes in one line; reqwest's own words alone say nearly nothing.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
