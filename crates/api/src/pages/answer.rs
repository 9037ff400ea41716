//! A page as an answer: its headers, and 304 where the browser has it.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use parlour_domain::fault::Fault;
use sha2::{Digest, Sha256};

use crate::error::Refusal;

/// Scripts, styles and connections from here and nowhere else, none of them inline; in nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page that stays the same for a while: the browser asks whether it has changed.
pub(super) fn lasting(
    template: &impl Template,
    status: StatusCode,
    asked: &HeaderMap,
) -> Result<Response, Refusal> {
    let text = render(template)?;
    let tag = tag(text.as_bytes());
    let mut response = if status == StatusCode::OK && has(asked, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        (status, text).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(dressed(response))
}

/// A page with messages: what is deleted must not live on in a cache.
pub(super) fn fleeting(template: &impl Template) -> Result<Response, Refusal> {
    Ok(dressed(render(template)?.into_response()))
}

fn render(template: &impl Template) -> Result<String, Refusal> {
    template.render().map_err(|error| Fault::internal(format!("a page cannot be written: {error}")).into())
}

fn dressed(mut response: Response) -> Response {
    let set = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::VARY, "Accept, Accept-Language"),
    ];
    for (name, value) in set {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// An entity tag: the same bytes have the same (RFC 9110, 8.8.3).
pub(super) fn tag(bytes: &[u8]) -> String {
    format!("\"{}\"", short_hash(bytes))
}

pub(super) fn short_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..8].iter().map(|b| format!("{b:02x}")).collect()
}

/// Whether the browser says that it has this (RFC 9110, 13.1.2; weak comparison, since proxies that compress weaken).
pub(super) fn has(asked: &HeaderMap, tag: &str) -> bool {
    let given = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|v| v.to_str().ok());
    given.flat_map(|v| v.split(',')).map(str::trim).any(|v| v == "*" || v.trim_start_matches("W/") == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_tags_are_compared_weakly() {
        let tag = tag(b"page");
        let asked = |value: &str| {
            HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_str(value).unwrap())])
        };
        for same in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            assert!(has(&asked(&same), &tag), "{same}");
        }
        assert!(!has(&asked("\"x\""), &tag));
        assert!(!has(&HeaderMap::new(), &tag));
    }
}
