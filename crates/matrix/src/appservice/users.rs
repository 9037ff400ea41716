//! `GET /_matrix/app/v1/users/{userId}`: is there such a puppet?
//!
//! Asked before the homeserver would make one. We make puppets ourselves, so the answer is only what we know.

use std::sync::Arc;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    response::Response,
};

use super::{
    Endpoint,
    auth::Homeserver,
    error::{MatrixError, done},
};
use crate::json::user_id;

pub(super) async fn get(
    _: Homeserver,
    State(endpoint): State<Arc<Endpoint>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, MatrixError> {
    let user = id.ok().and_then(|Path(id)| user_id(&id));
    if user.is_some_and(|user| endpoint.inbound.knows_user(&user)) {
        return Ok(done());
    }
    Err(MatrixError::not_found("There is no such user here."))
}
