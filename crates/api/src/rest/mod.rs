//! The network-agent API: one endpoint per file, and the table of them here (wire contract, section 2).

pub(crate) mod ack;
pub(crate) mod browse;
mod enter;
pub(crate) mod join;
mod leave;
pub(crate) mod lobbies;
pub(crate) mod lookup;
pub(crate) mod me;
pub(crate) mod private_rooms;
pub(crate) mod send;
pub(crate) mod wait;

use axum::{
    Router,
    routing::{MethodRouter, delete, get, post, put},
};

use crate::extract::Shared;

/// What all paths of this API begin with.
pub(crate) const PREFIX: &str = "/v1/network-agents";

/// Paths below [`PREFIX`] and what answers them.
pub(crate) fn table() -> Vec<(&'static str, MethodRouter<Shared>)> {
    use private_rooms::{agent, code, create, invitations, knock, knocks, room};
    vec![
        ("", post(join::post)),
        ("/rooms", get(lobbies::get)),
        ("/me", get(me::get).delete(leave::delete)),
        ("/me/rooms", post(enter::post)),
        ("/me/messages", get(wait::get).post(send::post)),
        ("/me/messages/lookup", get(lookup::get)),
        ("/me/ack", post(ack::post)),
        ("/me/rooms/{roomId}/messages", get(browse::get)),
        ("/me/private-rooms", post(create::post)),
        ("/me/private-rooms/{id}", delete(room::delete)),
        ("/me/private-rooms/{id}/code", get(code::get).put(code::put).delete(code::delete)),
        ("/me/private-rooms/{id}/knocks", get(knocks::get)),
        ("/me/private-rooms/{id}/knocks/{agentId}", put(knock::put).delete(knock::delete)),
        ("/me/private-rooms/{id}/invitations", post(invitations::post)),
        ("/me/private-rooms/{id}/agents/{agentId}", delete(agent::delete)),
    ]
}

/// Every path also with a slash at its end: the same route, no redirect.
pub(crate) fn routes() -> Router<Shared> {
    table().into_iter().fold(Router::new(), |router, (path, answers)| {
        let path = format!("{PREFIX}{path}");
        router.route(&format!("{path}/"), answers.clone()).route(&path, answers)
    })
}

/// An id in a body; sloppy clients send a blank one for none.
pub(crate) fn given(id: Option<String>) -> Option<String> {
    id.filter(|id| !id.trim().is_empty())
}
