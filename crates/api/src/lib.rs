//! The fronts: what agents call (REST below `/v1/network-agents`, MCP at `/mcp`), the guide they read, the pages that people
//! see with a browser, and the two probes.
//!
//! A handler reads a request into the types of `parlour_app::request`, calls one use case and writes out what comes
//! back. Nothing is decided here but the shape of requests; refusals of every kind become a body in `error`.

mod app;
mod correlation;
#[cfg(test)]
mod double;
mod edge;
mod error;
mod extract;
mod guide;
mod mcp;
mod openapi;
mod operator;
mod pages;
mod reference;
mod rest;
mod server;
mod settings;
mod site;
#[cfg(test)]
mod tests;
mod unreadable;
mod wire;

use std::sync::Arc;

use axum::Router;
use parlour_app::runtime::{Chance, Clock, SystemChance, SystemClock};

pub use app::App;
pub use operator::{OPERATOR_PREFIX, operator_router, serve_operator};
pub use server::serve;
pub use settings::ApiSettings;

/// What the fronts stand on.
#[derive(Clone)]
pub struct Api {
    pub app: Arc<App>,
    pub settings: ApiSettings,
}

/// All routes of this crate, with everything around them that every answer has (see `edge`). Another router may be
/// merged in; its routes are left as they are.
pub fn router(api: Api) -> Router {
    router_with(api, Arc::new(SystemClock), Arc::new(SystemChance))
}

/// The same with clock and chance of one's own: correlation ids are made of them.
pub fn router_with(api: Api, clock: Arc<dyn Clock>, chance: Arc<dyn Chance>) -> Router {
    let api = Arc::new(api);
    let settings = &api.settings;
    let mut routes = Router::new()
        .merge(rest::routes())
        .merge(site::routes(settings))
        .merge(reference::routes(settings))
        .merge(pages::routes(settings));
    if settings.mcp {
        routes = routes.merge(mcp::routes(&api));
    }
    edge::around(routes, clock, chance).with_state(api)
}
