//! What stands around every route: correlation id, bodies of errors, `no-store`, CORS, panics, metrics and the access
//! log.

use std::any::Any;

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Method, StatusCode, header};
use parlour_app::runtime::{Chance, Clock};
use parlour_domain::fault::{Code, Fault};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use tower_http::{
    catch_panic::CatchPanicLayer,
    cors::{Any as AnyOrigin, CorsLayer},
};

use crate::{
    correlation::{self, CorrelationId},
    error::{Refusal, written},
    mcp,
};

/// How long a browser may remember what it is allowed.
const PREFLIGHT_MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Adds the two fallbacks and the layers, innermost first.
pub(crate) fn around<S>(routes: Router<S>, clock: Arc<dyn Clock>, chance: Arc<dyn Chance>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    routes
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(cors())
        .layer(from_fn_with_state(correlation::Source { clock, chance }, edge))
}

/// Any origin, no credentials (wire contract, section 1). Tokens travel in a header that scripts set themselves.
fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AnyOrigin)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE])
        .expose_headers([header::RETRY_AFTER, correlation::HEADER])
        .max_age(PREFLIGHT_MAX_AGE)
}

async fn edge(State(ids): State<correlation::Source>, mut request: Request, next: Next) -> Response {
    let id = ids.id_for(request.headers());
    let call = Call::of(&request);
    let preflight = mcp::is_preflight(request.method(), request.uri().path());
    request.extensions_mut().insert(id);
    let mut response = written(next.run(request).await, id);
    if preflight {
        mcp::allow_headers(&mut response);
    }
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Some(value) = id.header() {
        headers.insert(correlation::HEADER, value);
    }
    call.ended(response.status(), id);
    response
}

async fn route_not_found() -> Refusal {
    Fault::new(
        Code::RouteNotFound,
        "There is nothing at this path. Read /agents.txt for the paths that exist.",
    )
    .into()
}

async fn method_not_allowed() -> Refusal {
    let message =
        "This path does not take this method. The Allow header names those it takes; /agents.txt says more.";
    Fault::new(Code::MethodNotAllowed, message).into()
}

/// What was thrown may hold text of a message: it is left alone. The panic hook has said where it happened.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    Refusal::from(Fault::internal("a handler panicked")).into_response()
}

/// What the log and the metrics call a request: its route, never its address, which holds ids and queries.
struct Call {
    method: &'static str,
    route: String,
    began: Instant,
}

impl Call {
    fn of(request: &Request) -> Self {
        let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        Self { method: name(request.method()), route: label(matched), began: Instant::now() }
    }

    fn ended(self, status: StatusCode, id: CorrelationId) {
        let Self { method, route, began } = self;
        let took = began.elapsed();
        tracing::debug!(
            method,
            route,
            status = status.as_u16(),
            ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            correlation_id = id.text(),
            "answered"
        );
        let labels = [("method", method.into()), ("route", route.into()), ("status", class(status).into())];
        count(labels, took);
    }
}

fn count(labels: [(&'static str, metrics::SharedString); 3], took: Duration) {
    metrics::counter!("parlour_http_requests_total", &labels).increment(1);
    metrics::histogram!("parlour_http_request_seconds", &labels).record(took);
}

/// A path with and without its last slash is one route. Everything unknown is one as well, or a scanner would fill the
/// metrics.
fn label(matched: Option<&str>) -> String {
    match matched {
        None => "none".to_owned(),
        Some("/") => "/".to_owned(),
        Some(path) => path.trim_end_matches('/').to_owned(),
    }
}

/// Methods can be any word; only those we know become a label.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        ..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    }
}
