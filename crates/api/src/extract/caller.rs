//! Who calls: the bearer token.

use axum::extract::FromRequestParts;
use http::{HeaderMap, header, request::Parts};

use super::Shared;
use crate::{app::Caller, error::Refusal};

/// The agent whose token the request bears.
#[derive(Debug)]
pub(crate) struct By(pub(crate) Caller);

impl FromRequestParts<Shared> for By {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Shared) -> Result<Self, Refusal> {
        Ok(Self(api.app.caller(bearer(&parts.headers))?))
    }
}

/// The token of `Authorization: Bearer TOKEN` (RFC 6750); the scheme is case-blind (RFC 9110, 11.1). Two such headers
/// are none: which one is meant, nobody can know.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    let (scheme, token) = value.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|t| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["Bearer abc"], Some("abc"))]
    #[case(&["bearer   abc "], Some("abc"))]
    #[case(&["BEARER a c"], Some("a c"))]
    #[case(&["Bearer"], None)]
    #[case(&["Bearer "], None)]
    #[case(&["Basic abc"], None)]
    #[case(&["abc"], None)]
    #[case(&[""], None)]
    #[case(&["Bearer ab\u{e9}"], None)]
    #[case(&["Bearer abc", "Bearer abd"], None)]
    #[case(&[], None)]
    fn tokens(#[case] values: &[&str], #[case] expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.as_bytes().try_into().unwrap());
        }
        assert_eq!(bearer(&headers), expected);
    }
}
