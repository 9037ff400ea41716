//! Only our homeserver may call: it proves itself by the registration's `hs_token`.

use std::sync::{Arc, atomic::Ordering};

use axum::extract::FromRequestParts;
use http::{StatusCode, header::AUTHORIZATION, request::Parts};
use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::{Endpoint, error::MatrixError};

/// What the homeserver has to show. Something can be held against it and nothing else: it has no `==`.
pub(super) struct HsToken(SecretString);

impl HsToken {
    pub(super) fn new(token: SecretString) -> Self {
        Self(token)
    }

    /// Takes as long wherever the first difference is.
    fn is(&self, given: &[u8]) -> bool {
        given.ct_eq(self.0.expose_secret().as_bytes()).into()
    }
}

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
        if endpoint.hs_token.is(&given) {
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

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use rstest::rstest;

    use super::*;

    /// Tells whether a type has an `==`: its own method is there only then, and goes before that of the trait.
    struct Probe<T>(PhantomData<T>);

    trait Otherwise {
        fn has_eq(&self) -> bool {
            false
        }
    }

    impl<T> Otherwise for Probe<T> {}

    impl<T: PartialEq> Probe<T> {
        fn has_eq(&self) -> bool {
            true
        }
    }

    #[test]
    fn the_token_cannot_be_compared_by_eq() {
        assert!(!Probe::<HsToken>(PhantomData).has_eq());
        assert!(!Probe::<SecretString>(PhantomData).has_eq(), "nor what it is made of");
        assert!(Probe::<String>(PhantomData).has_eq(), "the probe sees an eq where there is one");
    }

    #[rstest]
    #[case("secret", true)]
    #[case("secreT", false)]
    #[case("Secret", false)]
    #[case("secre", false)]
    #[case("secrets", false)]
    #[case("", false)]
    fn it_is_the_whole_token_or_nothing(#[case] given: &str, #[case] is: bool) {
        assert_eq!(HsToken::new("secret".to_owned().into()).is(given.as_bytes()), is);
    }
}
