//! What the operator's commands call, over the Unix socket in the data folder. Whoever may open the socket is the
//! operator: there are no tokens here. One endpoint per file, and the table of them here.

mod agents;
mod audit;
mod codes;
mod knocks;
mod quotas;
mod rooms;
mod shown;
mod socket;
mod source;
mod status;

use std::sync::Arc;

use axum::{
    Router,
    routing::{MethodRouter, delete, get},
};
use parlour_app::runtime::{SystemChance, SystemClock};

use crate::{Api, edge, extract::Shared};

pub use socket::serve_operator;

/// What all paths of the operator's begin with.
pub const OPERATOR_PREFIX: &str = "/v1/operator";

/// Paths below [`OPERATOR_PREFIX`] and what answers them.
fn table() -> Vec<(&'static str, MethodRouter<Shared>)> {
    vec![
        ("/status", get(status::get)),
        ("/agents", get(agents::list)),
        ("/agent", get(agents::show).delete(agents::disable)),
        ("/rooms", get(rooms::list)),
        ("/room", delete(rooms::close)),
        ("/knocks", get(knocks::list)),
        ("/codes", get(codes::list)),
        ("/code", delete(codes::off)),
        ("/quotas", get(quotas::list)),
        ("/source", get(source::show)),
        ("/audit", get(audit::list)),
    ]
}

/// All routes for the operator. Never to be merged into what is reachable over the network.
pub fn operator_router(api: Api) -> Router {
    let routes = table().into_iter().fold(Router::new(), |router, (path, answers)| {
        router.route(&format!("{OPERATOR_PREFIX}{path}"), answers)
    });
    edge::around(routes, Arc::new(SystemClock), Arc::new(SystemChance)).with_state(Arc::new(api))
}
