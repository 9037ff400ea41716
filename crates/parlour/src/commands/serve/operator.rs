//! The operator's socket, beside the database.

use std::sync::Arc;

use parlour_api::Api;
use parlour_app::{App, runtime::Tasks};

use super::build;
use crate::{config::Config, failure::Failure, socket};

/// The folder is there and locked, so whatever has the socket's name is left over from a bridge that was killed.
///
/// # Errors
/// The socket cannot be made.
pub(super) fn serve(config: &Config, app: &Arc<App>, tasks: &Tasks) -> Result<(), Failure> {
    let folder = &config.storage.path.0;
    let listener = socket::bind(folder).map_err(|error| {
        Failure::new(format!("storage.path: cannot make {}: {error}", socket::path(folder).display()))
    })?;
    let api = Api { app: Arc::clone(app), settings: build::api_settings(config) };
    tasks.spawn(parlour_api::serve_operator(listener, parlour_api::operator_router(api), tasks.clone()));
    Ok(())
}
