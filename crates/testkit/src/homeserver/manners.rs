//! What people see of each other besides words.
#![allow(clippy::result_large_err, reason = "a refusal is an answer too")]

use serde_json::json;

use super::{
    Call, FakeHomeserver,
    request::{Answer, Request, ok, refusal},
    world::World,
};

/// One thing that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Who, how present, and the text beside it.
    Presence(String, String, String),
    /// Who, and up to which event.
    Read(String, String),
    /// Who, and whether they type.
    Typing(String, bool),
}

/// Synapse with presence off takes it all the same.
pub(super) fn answer(w: &mut World, user: &str, request: &Request) -> Result<Answer, Answer> {
    let text = |key: &str| request.body[key].as_str().unwrap_or_default().to_owned();
    let (user, presence) = (user.to_owned(), text("presence"));
    let shown = match request.call {
        Call::SetPresence if w.without_presence => return Ok(ok(&json!({}))),
        Call::SetPresence => {
            w.presence.insert(user.clone(), presence.clone());
            Shown::Presence(user, presence, text("status_msg"))
        }
        Call::Presence => {
            let presence = w.presence.get(&request.args[0]).map_or("offline", String::as_str);
            return Ok(ok(&json!({"presence": presence})));
        }
        _ if w.rooms.get(&request.args[0]).is_none_or(|room| room.membership(&user) != "join") => {
            return Err(refusal(403, "M_FORBIDDEN", "not in the room"));
        }
        Call::Receipt => Shown::Read(user, request.args[1].clone()),
        _ => Shown::Typing(user, request.body["typing"] == true),
    };
    w.shown.push(shown);
    Ok(ok(&json!({})))
}

impl FakeHomeserver {
    /// Everything that was shown, in order.
    #[must_use]
    pub fn shown(&self) -> Vec<Shown> {
        self.look(|w| w.shown.clone())
    }

    /// How present somebody is.
    #[must_use]
    pub fn presence_of(&self, user: &str) -> Option<String> {
        self.look(|w| w.presence.get(user).cloned())
    }

    /// Takes presence from now on and shows none.
    pub fn has_no_presence(&self) {
        self.world(|w| w.without_presence = true);
    }
}
