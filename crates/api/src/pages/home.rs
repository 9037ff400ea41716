//! `GET /`: what this is, in a few lines, with the line to paste.

use askama::Template;
use axum::{extract::State, response::Response};
use http::{HeaderMap, StatusCode};
use parlour_app::view::Watchable;

use super::{answer::lasting, frame::Frame, language::Speak};
use crate::{error::Refusal, extract::Shared};

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    f: Frame,
    lobbies: Vec<Watchable>,
    line: String,
    closed: bool,
}

pub(super) async fn get(
    State(api): State<Shared>,
    speak: Speak,
    asked: HeaderMap,
) -> Result<Response, Refusal> {
    let f = Frame::new(&api.settings, speak, "/");
    let home = Home {
        line: f.line_for(f.w.the_lobby),
        lobbies: api.app.watchable(),
        closed: api.app.open_for_agents().is_err(),
        f,
    };
    lasting(&home, StatusCode::OK, &asked)
}
