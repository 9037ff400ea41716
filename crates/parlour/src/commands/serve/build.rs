//! The bridge put together from its parts.

use std::sync::Arc;

use axum::Router;
use parlour_api::{Api, ApiSettings};
use parlour_app::{
    App, Intake,
    runtime::{SystemChance, SystemClock, Tasks},
};
use parlour_matrix::{Client, Registration};
use parlour_store::Store;

use super::sealing;
use crate::{config::Config, failure::Failure};

/// The app, with what it knew when it was last stopped. It does nothing yet.
pub(super) async fn app(
    config: &Config,
    registration: &Registration,
    store: Store,
    tasks: &Tasks,
) -> Result<Arc<App>, Failure> {
    let client = Client::new(config.homeserver.url.as_str(), registration.as_token.clone())
        .map_err(|e| Failure::new(e.to_string()))?;
    let settings = config.settings(registration)?;
    let sealing = sealing::key(config, &store).await?;
    let app = App::open(
        settings,
        store,
        client,
        Arc::new(SystemClock),
        Arc::new(SystemChance),
        sealing,
        tasks.clone(),
    )
    .await;
    app.map_err(|fault| {
        let cause = fault.cause.unwrap_or(fault.message);
        Failure::new(format!("storage.path: cannot read the database: {cause}"))
    })
}

/// What agents and people use, and what the homeserver uses, on one port.
pub(super) fn router(config: &Config, registration: &Registration, app: &Arc<App>) -> Router {
    let api = Api { app: Arc::clone(app), settings: api_settings(config) };
    let intake = Arc::new(Intake(Arc::clone(app)));
    parlour_api::router(api).merge(parlour_matrix::router(intake, registration.hs_token.clone()))
}

pub(super) fn api_settings(config: &Config) -> ApiSettings {
    ApiSettings {
        public_url: config.public_url(),
        server_name: config.homeserver.server_name.to_string(),
        bridge_id: config.bridge_id(),
        trusted_proxies: config.server.trusted_proxies.clone(),
        limits: config.limits.clone(),
        private_rooms: true,
        mcp: true,
        window: config.server.window,
    }
}
