//! Only our homeserver may call: it proves itself by the registration's `hs_token`.

use std::sync::{Arc, atomic::Ordering};

use axum::extract::FromRequestParts;
use http::{StatusCode, header::AUTHORIZATION, request::Parts};
use percent_encoding::percent_decode_str;
use secrecy::ExposeSecret;
use subtle::ConstantTimeEq;

use super::{Endpoint, error::MatrixError};

/// Proof that the request carries the token. First argument of each handler, so that no body is read without it.
pub(super) struct Homeserver;

const MISSING: MatrixError = MatrixError {
    status: StatusCode::UNAUTHORIZED,
    errcode: "M_UNAUTHORIZED",
    error: "Send the registration's hs_token as `Authorization: Bearer`.",
};

const WRONG: MatrixError = MatrixError {
    status: StatusCode::FORBIDDEN,
    errcode: "M_FORBIDDEN",
    error: "This is not our hs_token; the homeserver and the bridge have to use the same registration file.",
};

impl FromRequestParts<Arc<Endpoint>> for Homeserver {
    type Rejection = MatrixError;

    async fn from_request_parts(parts: &mut Parts, endpoint: &Arc<Endpoint>) -> Result<Self, MatrixError> {
        let given = bearer(parts).or_else(|| query_token(parts)).ok_or(MISSING)?;
        if bool::from(given.as_slice().ct_eq(endpoint.hs_token.expose_secret().as_bytes())) {
            return Ok(Self);
        }
        // anybody can cause this: once is enough to tell the operator, more would fill the log
        if !endpoint.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a call with a wrong hs_token was refused; does the homeserver use our registration file? (said once)"
            );
        }
        metrics::counter!("parlour_wrong_hs_token_total").increment(1);
        Err(WRONG)
    }
}

/// The token of the header; any other scheme counts as a wrong token.
fn bearer(parts: &Parts) -> Option<Vec<u8>> {
    let value = parts.headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked(7).unwrap_or((value, b""));
    Some(if scheme.eq_ignore_ascii_case(b"Bearer ") { token.trim_ascii().to_vec() } else { vec![] })
}

/// Homeservers before Matrix 1.4 know this form only.
fn query_token(parts: &Parts) -> Option<Vec<u8>> {
    let pairs = parts.uri.query()?.split('&');
    let token = pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == "access_token")?.1;
    Some(percent_decode_str(token).collect())
}
