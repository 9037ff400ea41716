//! `PUT /_matrix/app/v1/transactions/{txnId}`: a batch of events.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{
        FromRequest, Path, Request, State,
        rejection::{BytesRejection, PathRejection},
    },
    response::Response,
};
use bytes::Bytes;
use http::StatusCode;

use super::{
    Endpoint, TransactionError,
    auth::Homeserver,
    error::{MatrixError, done},
};

pub(super) async fn put(
    _: Homeserver,
    State(endpoint): State<Arc<Endpoint>>,
    txn_id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, MatrixError> {
    let Path(txn_id) = txn_id.map_err(|_| BAD_ID)?;
    let body = tokio::time::timeout(BODY_TIMEOUT, Bytes::from_request(request, &()));
    let body = body.await.map_err(|_| SLOW)?.map_err(|e| unread(&e))?;
    endpoint.inbound.transaction(txn_id, body).await.map_err(MatrixError::from)?;
    Ok(done())
}

/// Synapse gives up after this long itself.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

const SLOW: MatrixError = MatrixError {
    status: StatusCode::REQUEST_TIMEOUT,
    errcode: "M_UNKNOWN",
    error: "The body did not come within 60 seconds; send the transaction again.",
};

const BAD_ID: MatrixError = MatrixError {
    status: StatusCode::BAD_REQUEST,
    errcode: "M_INVALID_PARAM",
    error: "The transaction id in the path is not UTF-8.",
};

fn unread(rejection: &BytesRejection) -> MatrixError {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => MatrixError {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            errcode: "M_TOO_LARGE",
            error: "A transaction may have 64 MiB.",
        },
        _ => MatrixError {
            status: StatusCode::BAD_REQUEST,
            errcode: "M_UNKNOWN",
            error: "The body broke off; send the transaction again.",
        },
    }
}

impl From<TransactionError> for MatrixError {
    fn from(error: TransactionError) -> Self {
        match error {
            TransactionError::NotJson => Self {
                status: StatusCode::BAD_REQUEST,
                errcode: "M_NOT_JSON",
                error: "The body has to be a JSON object.",
            },
            TransactionError::Unavailable => Self {
                status: StatusCode::SERVICE_UNAVAILABLE,
                errcode: "M_UNKNOWN",
                error: "The transaction could not be stored; send it again.",
            },
        }
    }
}
