//! Requests with a body.
//!
//! The body is taken in first, whatever is then said about the token: an answer that comes while the client is still
//! writing breaks the connection for many clients and proxies.

use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::request::Parts;
use parlour_domain::{fault::Fault, limits::MAX_BODY_BYTES};
use serde::de::DeserializeOwned;

use super::{By, Shared, body, json, query};
use crate::{app::Caller, error::Refusal};

/// A body that callers post.
pub(crate) trait Posted: DeserializeOwned {
    const MAX_BYTES: usize = MAX_BODY_BYTES;
}

/// A body with a token.
#[derive(Debug)]
pub(crate) struct Signed<T> {
    pub(crate) caller: Caller,
    pub(crate) body: T,
}

/// A body without a token, while agents are switched on.
#[derive(Debug)]
pub(crate) struct Opened<T>(pub(crate) T);

impl<T: Posted> FromRequest<Shared> for Signed<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Shared) -> Result<Self, Refusal> {
        let Taken { mut parts, bytes } = Taken::from(request, T::MAX_BYTES).await;
        let not_whole = bytes.is_err();
        let read = match By::from_request_parts(&mut parts, api).await {
            Ok(By(caller)) => read(&parts, bytes).map(|body| Self { caller, body }),
            Err(refusal) => Err(refusal),
        };
        read.map_err(|refusal| if not_whole { refusal.hanging_up() } else { refusal })
    }
}

impl<T: Posted> FromRequest<Shared> for Opened<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Shared) -> Result<Self, Refusal> {
        let Taken { parts, bytes } = Taken::from(request, T::MAX_BYTES).await;
        let not_whole = bytes.is_err();
        let read =
            api.app.open_for_agents().map_err(Refusal::from).and_then(|()| read(&parts, bytes).map(Self));
        read.map_err(|refusal| if not_whole { refusal.hanging_up() } else { refusal })
    }
}

struct Taken {
    parts: Parts,
    bytes: Result<Bytes, Fault>,
}

impl Taken {
    async fn from(request: Request, limit: usize) -> Self {
        let (parts, body) = request.into_parts();
        let bytes = body::take(&parts.headers, body, limit).await;
        Self { parts, bytes }
    }
}

/// No route that takes a body takes a query.
fn read<T: Posted>(parts: &Parts, bytes: Result<Bytes, Fault>) -> Result<T, Refusal> {
    query::read::<()>(parts.uri.query())?;
    Ok(json::read(&parts.headers, &bytes?)?)
}
