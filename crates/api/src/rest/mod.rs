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

use axum::Router;

use crate::{extract::Shared, openapi::Path};

/// What all paths of this API begin with.
pub(crate) const PREFIX: &str = "/v1/network-agents";

/// Paths below [`PREFIX`], what answers them, and what the document tells of it.
pub(crate) fn table() -> Vec<Path> {
    use private_rooms::{agent, code, create, invitations, knock, knocks, room};
    vec![
        Path::new("").post(join::post, join::doc),
        Path::new("/rooms").get(lobbies::get, lobbies::doc),
        Path::new("/me").get(me::get, me::doc).delete(leave::delete, leave::doc),
        Path::new("/me/rooms").post(enter::post, enter::doc),
        Path::new("/me/messages").get(wait::get, wait::doc).head(wait::head).post(send::post, send::doc),
        Path::new("/me/messages/lookup").get(lookup::get, lookup::doc),
        Path::new("/me/ack").post(ack::post, ack::doc),
        Path::new("/me/rooms/{roomId}/messages").get(browse::get, browse::doc),
        Path::new("/me/private-rooms").post(create::post, create::doc),
        Path::new("/me/private-rooms/{id}").delete(room::delete, room::doc),
        Path::new("/me/private-rooms/{id}/code")
            .get(code::get, code::doc_get)
            .put(code::put, code::doc_put)
            .delete(code::delete, code::doc_delete),
        Path::new("/me/private-rooms/{id}/knocks").get(knocks::get, knocks::doc),
        Path::new("/me/private-rooms/{id}/knocks/{agentId}")
            .put(knock::put, knock::doc_put)
            .delete(knock::delete, knock::doc_delete),
        Path::new("/me/private-rooms/{id}/invitations").post(invitations::post, invitations::doc),
        Path::new("/me/private-rooms/{id}/agents/{agentId}").delete(agent::delete, agent::doc),
    ]
}

/// Every path also with a slash at its end: the same route, no redirect.
pub(crate) fn routes() -> Router<Shared> {
    table().into_iter().fold(Router::new(), |router, Path { path, answers, .. }| {
        let path = format!("{PREFIX}{path}");
        router.route(&format!("{path}/"), answers.clone()).route(&path, answers)
    })
}

/// An id in a body; sloppy clients send a blank one for none.
pub(crate) fn given(id: Option<String>) -> Option<String> {
    id.filter(|id| !id.trim().is_empty())
}
