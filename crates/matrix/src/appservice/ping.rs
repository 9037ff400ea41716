//! `POST /_matrix/app/v1/ping`: the homeserver's answer to a ping of ours.

use std::sync::Arc;

use axum::{
    extract::{State, rejection::BytesRejection},
    response::Response,
};
use bytes::Bytes;
use serde_json::value::RawValue;

use super::{Endpoint, auth::Homeserver, error::done};
use crate::json::Fields;

/// Always 200: that the call arrives with the right token is all that a ping asks.
pub(super) async fn post(
    _: Homeserver,
    State(endpoint): State<Arc<Endpoint>>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    endpoint.inbound.pinged(body.ok().and_then(|body| transaction_id(&body)));
    done()
}

fn transaction_id(body: &[u8]) -> Option<String> {
    let raw: &RawValue = serde_json::from_slice(body).ok()?;
    Fields::of(raw)?.str("transaction_id")
}
