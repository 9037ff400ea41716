//! `/mcp`: the use cases as tools for MCP hosts, over Streamable HTTP without sessions (wire contract, section 8).
//!
//! [`front`] takes what hosts send, in all the forms they send it in, and hands on messages that are well-formed. rmcp
//! speaks the protocol, [`desk`] is our side of it, and [`tools`] has a file for each tool. A tool calls the same use
//! case and writes out the same body as its REST route.

mod accept;
mod args;
mod catalog;
mod desk;
mod front;
mod jsonrpc;
mod normal;
mod origin;
mod said;
mod schema;
mod stream;
#[cfg(test)]
mod tests;
mod tools;
mod version;

use std::sync::Arc;

use axum::{Router, extract::Request, response::Response, routing::post};
use http::{HeaderValue, Method, header};

use crate::extract::Shared;

const PATH: &str = "/mcp";

/// What a page in a browser may send here, besides what it may send everywhere.
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization,content-type,last-event-id,mcp-method,mcp-name,mcp-protocol-version,mcp-session-id",
);

/// With and without a slash at its end, as everywhere.
pub(crate) fn routes(api: &Shared) -> Router<Shared> {
    let front = Arc::new(front::Front::new(Arc::clone(api)));
    let answer = post(move |request: Request| {
        let front = Arc::clone(&front);
        async move { front.answer(request).await }
    });
    Router::new().route(PATH, answer.clone()).route("/mcp/", answer)
}

/// Whether an answer to a preflight request is one for this path; then MCP's headers are allowed, too.
pub(crate) fn is_preflight(method: &Method, path: &str) -> bool {
    *method == Method::OPTIONS && path.trim_end_matches('/') == PATH
}

pub(crate) fn allow_headers(preflight: &mut Response) {
    preflight.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
}
