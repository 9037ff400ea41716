//! Bodies that several routes share, and how every success is written (wire contract, sections 1, 2 and 4).

mod access;
mod knock;
mod message;
mod room;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Refusal;

pub(crate) use access::Access;
pub(crate) use knock::{IncomingKnock, Knock};
pub(crate) use message::{Length, Message};
pub(crate) use room::{Entered, Room};

/// What a handler gives back.
pub(crate) type Answered<T> = Result<Answer<T>, Refusal>;

/// A success body: `schemaVersion` and the fields of its own.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Versioned<T> {
    #[serde(rename = "schemaVersion")]
    #[schemars(extend("const" = 1))]
    schema_version: u8,
    #[serde(flatten)]
    body: T,
}

impl<T> Versioned<T> {
    pub(crate) fn new(body: T) -> Self {
        Self { schema_version: 1, body }
    }
}

/// A success with a body.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    status: StatusCode,
    body: T,
}

impl<T> Answer<T> {
    pub(crate) fn ok(body: T) -> Self {
        Self { status: StatusCode::OK, body }
    }

    pub(crate) fn created(body: T) -> Self {
        Self { status: StatusCode::CREATED, body }
    }

    /// Taken on, not done yet.
    pub(crate) fn accepted(body: T) -> Self {
        Self { status: StatusCode::ACCEPTED, body }
    }
}

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&Versioned::new(self.body)) {
            Ok(body) => {
                let json = HeaderValue::from_static("application/json");
                (self.status, [(header::CONTENT_TYPE, json)], body).into_response()
            }
            // the error of a serializer may repeat what it stumbled over
            Err(_) => Refusal::from(parlour_domain::fault::Fault::internal("an answer cannot be written"))
                .into_response(),
        }
    }
}

/// 204, no body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done;

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// For fields that are left out when there is nothing in them.
pub(crate) fn unless_empty<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}
