//! Style, script and icon. Their addresses hold a hash of what is in them, so browsers may keep them for ever.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header};
use parlour_domain::fault::{Code, Fault};

use super::answer::{has, short_hash};
use crate::error::Refusal;

const FILES: [(&str, &str, &str); 3] = [
    ("window.css", "text/css; charset=utf-8", include_str!("../../assets/window.css")),
    ("window.js", "text/javascript; charset=utf-8", include_str!("../../assets/window.js")),
    ("icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
];

/// Of all of them: one changes, all addresses do.
static VERSION: LazyLock<String> =
    LazyLock::new(|| short_hash(FILES.map(|(_, _, text)| text).concat().as_bytes()));

/// Where a file is, below the root.
pub(super) fn path(name: &str) -> String {
    format!("/assets/{}/{name}", *VERSION)
}

pub(super) async fn get(
    Path((version, name)): Path<(String, String)>,
    asked: HeaderMap,
) -> Result<Response, Refusal> {
    let file = FILES.iter().find(|(known, ..)| *known == name && version == *VERSION);
    let (_, kind, text) = file.ok_or_else(not_found)?;
    let tag = format!("\"{}\"", *VERSION);
    let headers = [
        (header::CONTENT_TYPE, *kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::ETAG, tag.as_str()),
    ];
    Ok(match has(&asked, &tag) {
        true => (StatusCode::NOT_MODIFIED, headers).into_response(),
        false => (headers, *text).into_response(),
    })
}

fn not_found() -> Refusal {
    let message = "This file belongs to another version of the page. Load the page again.";
    Fault::new(Code::RouteNotFound, message).into()
}
