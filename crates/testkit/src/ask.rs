//! Requests, shortly.

use parlour_app::{
    request::{Browse, Join, Send, Wait, WakeInput},
    view::{Inbox, Seen},
};

/// A newcomer to the default lobby.
#[must_use]
pub fn join(name: &str) -> Join {
    Join { name: name.to_owned(), ..Join::default() }
}

/// A wait for everything that is said, answered without settling.
#[must_use]
pub fn wait(seconds: u64) -> Wait {
    Wait { wait: Some(seconds), settle: Some(0), wake: Some(WakeInput::All), ..Wait::default() }
}

/// A message under this submission id.
#[must_use]
pub fn named(id: &str, text: &str) -> Send {
    Send { submission_id: Some(id.to_owned()), text: text.to_owned(), ..Send::default() }
}

/// The newest messages of the only room.
#[must_use]
pub fn browse(limit: u64) -> Browse {
    Browse { limit: Some(limit), ..Browse::default() }
}

/// What was handed over, as texts.
pub trait Texts {
    fn texts(&self) -> Vec<String>;
}

impl Texts for [Seen] {
    fn texts(&self) -> Vec<String> {
        self.iter().map(|m| m.message.body.text.clone()).collect()
    }
}

impl Texts for Inbox {
    fn texts(&self) -> Vec<String> {
        self.messages.texts()
    }
}
