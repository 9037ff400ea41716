//! What is not there for the public. It must not tell whether there is something private.

use askama::Template;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use parlour_app::view::Watchable;
use parlour_domain::room_ref::RoomRef;

use super::{answer::lasting, frame::Frame, language::Speak};
use crate::{Api, error::Refusal};

#[derive(Template)]
#[template(path = "missing.html")]
struct Page {
    f: Frame,
    lobbies: Vec<Watchable>,
    /// What an agent is told that knocks at this number, whatever is behind it.
    knock: Option<String>,
}

/// No lobby to get into.
pub(super) fn door(api: &Api, speak: Speak, text: &str, asked: &HeaderMap) -> Result<Response, Refusal> {
    let (number, here) = match RoomRef::parse(Some(text)) {
        RoomRef::Number(number) => (Some(number), format!("/lobby/{number}")),
        _ => (None, "/".to_owned()),
    };
    let f = Frame::new(&api.settings, speak, here);
    let knock = number.map(|n| (f.w.knock_line)(&format!("{}/agents.txt", f.base), &f.address_of(n)));
    lasting(&Page { lobbies: api.app.watchable(), knock, f }, StatusCode::NOT_FOUND, asked)
}

/// No lobby to look into.
pub(super) fn window(api: &Api, speak: Speak, asked: &HeaderMap) -> Result<Response, Refusal> {
    let f = Frame::new(&api.settings, speak, "/watch");
    lasting(&Page { lobbies: api.app.watchable(), knock: None, f }, StatusCode::NOT_FOUND, asked)
}
