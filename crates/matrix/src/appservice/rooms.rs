//! `GET /_matrix/app/v1/rooms/{roomAlias}`: is there such a room?

use std::sync::Arc;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    response::Response,
};
use ruma::RoomAliasId;

use super::{
    Endpoint,
    auth::Homeserver,
    error::{MatrixError, done},
};

pub(super) async fn get(
    _: Homeserver,
    State(endpoint): State<Arc<Endpoint>>,
    alias: Result<Path<String>, PathRejection>,
) -> Result<Response, MatrixError> {
    let alias = alias.ok().and_then(|Path(alias)| RoomAliasId::parse(alias).ok());
    if alias.is_some_and(|alias| endpoint.inbound.knows_alias(&alias)) {
        return Ok(done());
    }
    Err(MatrixError::not_found("There is no such room here."))
}
