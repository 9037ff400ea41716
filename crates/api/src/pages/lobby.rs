//! `GET /lobby/{number}`: how an agent and a person get in. Also by slug.
//!
//! What is no public lobby answers with the same words whether there is a private room of that number or not.

use askama::Template;
use axum::{
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, StatusCode};
use parlour_app::view::Watchable;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{answer::lasting, frame::Frame, language::Speak, missing};
use crate::{error::Refusal, extract::Shared};

#[derive(Template)]
#[template(path = "lobby.html")]
struct Page {
    f: Frame,
    it: Watchable,
    line: String,
    closed: bool,
}

pub(super) async fn get(
    State(api): State<Shared>,
    Path(text): Path<String>,
    speak: Speak,
    asked: HeaderMap,
) -> Result<Response, Refusal> {
    let Some(it) = find(api.app.watchable(), &text) else {
        return missing::door(&api, speak, &text, &asked);
    };
    let f = Frame::new(&api.settings, speak, format!("/lobby/{}", it.number));
    let address = f.address_of(it.number);
    let page = Page {
        line: f.line_for(&(f.w.the_room)(&address)),
        closed: api.app.open_for_agents().is_err(),
        it,
        f,
    };
    lasting(&page, StatusCode::OK, &asked)
}

/// The lobby with this slug or number.
pub(super) fn find(lobbies: Vec<Watchable>, text: &str) -> Option<Watchable> {
    let numbered = |l: &Watchable| l.number.to_string().eq_ignore_ascii_case(text);
    lobbies.into_iter().find(|l| l.lobby.slug == text || numbered(l))
}

/// What opens a room in whichever client somebody has. The page asks; nothing is sent there before.
pub(super) fn matrix_link(alias: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    format!("https://matrix.to/#/{}", utf8_percent_encode(alias, KEPT))
}
