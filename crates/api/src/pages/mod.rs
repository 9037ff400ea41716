//! What people see with a browser: what this is (`/`), the lobbies live (`/watch`), and how to get into one (`/lobby`).
//!
//! Whole without JavaScript; a script only follows what changes. Nothing is inline, nothing comes from elsewhere, and
//! everything that somebody wrote is escaped by the templates.

mod answer;
mod assets;
mod events;
mod frame;
mod home;
mod language;
mod line;
mod lobby;
mod missing;
mod time;
mod watch;
mod words;

use axum::{
    Router,
    routing::{MethodRouter, get},
};

use crate::{ApiSettings, extract::Shared};

/// Paths with what answers them.
pub(crate) fn routes(settings: &ApiSettings) -> Router<Shared> {
    let mut table: Vec<(&str, MethodRouter<Shared>)> =
        vec![("/lobby/{number}", get(lobby::get)), ("/assets/{version}/{name}", get(assets::get))];
    if settings.window {
        table.extend([("/watch", get(watch::all)), ("/watch/{lobby}", get(watch::one))]);
    }
    table.into_iter().fold(Router::new().route("/", get(home::get)), |router, (path, answers)| {
        router.route(&format!("{path}/"), answers.clone()).route(path, answers)
    })
}
