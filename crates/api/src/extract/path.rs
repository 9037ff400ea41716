//! Ids in the path. They come percent-encoded (`%21room%3Aserver`) or as they are (`!room:server`).

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use parlour_domain::fault::Fault;
use serde::de::DeserializeOwned;

use crate::error::Refusal;

/// Values of the path's parameters, decoded, in their order.
#[derive(Debug)]
pub(crate) struct At<T>(pub(crate) T);

impl<T, S> FromRequestParts<S> for At<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = Path::<T>::from_request_parts(parts, state).await;
        let Path(values) = read.map_err(|_| undecodable())?;
        Ok(Self(values))
    }
}

fn undecodable() -> Fault {
    Fault::invalid("path", "An id in the path is not valid percent-encoded UTF-8. Encode it again.")
}
