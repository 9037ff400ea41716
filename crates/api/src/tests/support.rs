use std::sync::Arc;

use axum::{Router, body::Body, response::Response};
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Request, header};
use parlour_app::runtime::{Chance, Clock};
use parlour_domain::limits::Limits;
use tower::ServiceExt;
use uuid::Uuid;

use crate::{Api, ApiSettings, correlation::CorrelationId, double::App, rest::PREFIX};

pub(crate) const ID: CorrelationId =
    CorrelationId(Uuid::from_u128(0x0199_aaaa_bbbb_7ccc_8ddd_eeee_eeee_eeee));
pub(crate) const TOKEN: &str = "parlour_token";

pub(crate) fn settings() -> ApiSettings {
    ApiSettings {
        public_url: "https://agents.example.org".to_owned(),
        server_name: "example.org".to_owned(),
        bridge_id: "parlour".to_owned(),
        trusted_proxies: Vec::new(),
        limits: Limits::default(),
        private_rooms: true,
        mcp: true,
        window: true,
    }
}

/// Stands still.
struct Still;

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        1_796_000_000_000
    }

    fn sleep_until(&self, _: i64) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

impl Chance for Still {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

pub(crate) fn router(app: &Arc<App>) -> Router {
    let api = Api { app: Arc::clone(app), settings: settings() };
    crate::router_with(api, Arc::new(Still), Arc::new(Still))
}

/// A request in the making. It bears a token and a correlation id.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

fn request(method: Method, path: String) -> Ask {
    let headers = [
        (header::AUTHORIZATION, format!("Bearer {TOKEN}").parse().unwrap()),
        (crate::correlation::HEADER, ID.header().unwrap()),
    ];
    Ask { method, path, headers: HeaderMap::from_iter(headers), body: Vec::new() }
}

pub(crate) fn get(path: &str) -> Ask {
    request(Method::GET, format!("{PREFIX}{path}"))
}

pub(crate) fn put(path: &str) -> Ask {
    request(Method::PUT, format!("{PREFIX}{path}"))
}

pub(crate) fn delete(path: &str) -> Ask {
    request(Method::DELETE, format!("{PREFIX}{path}"))
}

pub(crate) fn post(path: &str, body: impl Into<Vec<u8>>) -> Ask {
    let ask = Ask { body: body.into(), ..request(Method::POST, format!("{PREFIX}{path}")) };
    ask.with(header::CONTENT_TYPE.as_str(), "application/json")
}

/// A path outside the API.
pub(crate) fn root(path: &str) -> Ask {
    request(Method::GET, path.to_owned())
}

impl Ask {
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        let name: http::HeaderName = name.parse().unwrap();
        self.headers.insert(name, value.parse().unwrap());
        self
    }

    pub(crate) fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    pub(crate) fn by(mut self, method: &str) -> Self {
        self.method = method.parse().unwrap();
        self
    }

    /// Adds to the path.
    pub(crate) fn at(mut self, more: &str) -> Self {
        self.path.push_str(more);
        self
    }

    pub(crate) fn request(self) -> Request<Body> {
        let mut request =
            Request::builder().method(self.method).uri(self.path).body(Body::from(self.body)).unwrap();
        *request.headers_mut() = self.headers;
        request
    }
}

pub(crate) async fn response(app: App, ask: Ask) -> Response {
    router(&Arc::new(app)).oneshot(ask.request()).await.unwrap()
}

/// The answer as text: status, the headers that matter, body.
pub(crate) async fn ask(app: App, ask: Ask) -> String {
    shown(response(app, ask).await).await
}

pub(crate) async fn shown(response: Response) -> String {
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let shown = [header::CONTENT_TYPE, header::CACHE_CONTROL, header::RETRY_AFTER, header::ALLOW];
    let headers = shown.iter().filter_map(|name| Some((name, parts.headers.get(name)?)));
    let headers: String =
        headers.map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap())).collect();
    format!("{}\n{headers}{}", parts.status.as_u16(), pretty(&body))
}

fn pretty(body: &[u8]) -> String {
    match serde_json::from_slice::<serde_json::Value>(body) {
        Ok(json) => serde_json::to_string_pretty(&json).unwrap(),
        Err(_) => String::from_utf8(body.to_vec()).unwrap(),
    }
}
