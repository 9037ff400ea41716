//! Errors as Matrix has them: `{errcode, error}` (client-server API, "Standard error response").

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde_json::json;

/// An answer that is not 200. `error` is for whoever reads the homeserver's log.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixError {
    pub(super) status: StatusCode,
    pub(super) errcode: &'static str,
    pub(super) error: &'static str,
}

impl MatrixError {
    pub(super) const fn not_found(error: &'static str) -> Self {
        Self { status: StatusCode::NOT_FOUND, errcode: "M_NOT_FOUND", error }
    }
}

impl IntoResponse for MatrixError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"errcode": self.errcode, "error": self.error}))).into_response()
    }
}

/// `{}` and a 200. A body of known length matters: Synapse takes an answer without Content-Length for a failure.
pub(super) fn done() -> Response {
    Json(json!({})).into_response()
}

pub(super) async fn unrecognized() -> MatrixError {
    MatrixError {
        status: StatusCode::NOT_FOUND,
        errcode: "M_UNRECOGNIZED",
        error: "This is an application service; there is no such path here.",
    }
}

/// The router adds `Allow`.
pub(super) async fn method_not_allowed() -> MatrixError {
    MatrixError {
        status: StatusCode::METHOD_NOT_ALLOWED,
        errcode: "M_UNRECOGNIZED",
        error: "This path takes another method; see the Allow header.",
    }
}
