use std::net::SocketAddr;

use axum::{Router, body::Body, extract::ConnectInfo};
use http::{Request, header};
use parlour_api::{Api, ApiSettings, router};
use parlour_domain::limits::Limits;
use parlour_testkit::{Bridge, Setup};
use serde_json::{Value, json};
use tower::ServiceExt;

const PREFIX: &str = "/v1/network-agents";

/// A bridge with its REST front.
pub(crate) struct Front {
    bridge: Option<Bridge>,
    router: Router,
}

/// A bridge ends a runtime of its own, which must not happen inside another one.
impl Drop for Front {
    fn drop(&mut self) {
        let bridge = self.bridge.take();
        drop(std::thread::spawn(move || drop(bridge)).join());
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<u64>,
    pub(crate) body: Value,
}

impl Answer {
    /// The status and, of an error, its code without the prefix and the field it names.
    pub(crate) fn told(&self) -> String {
        let code = self.body["code"].as_str().unwrap_or_default().trim_start_matches("network_agent.");
        let field = self.body["details"]["field"].as_str().unwrap_or_default();
        format!("{} {code} {field}", self.status).trim_end().to_owned()
    }
}

impl Front {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}, &[]).await
    }

    /// Proxies are addresses of networks, as in the config.
    pub(crate) async fn with(change: impl FnOnce(&mut Setup), proxies: &[&str]) -> Self {
        Self::of(Bridge::with(change).await, proxies)
    }

    /// The front of a bridge that runs.
    pub(crate) fn of(bridge: Bridge, proxies: &[&str]) -> Self {
        let settings = ApiSettings {
            public_url: bridge.settings.public_url.clone(),
            server_name: bridge.settings.server_name.to_string(),
            bridge_id: bridge.settings.bridge_id.clone(),
            trusted_proxies: proxies.iter().map(|p| p.parse().unwrap()).collect(),
            limits: Limits::default(),
            private_rooms: true,
            mcp: true,
            window: true,
        };
        let router = router(Api { app: bridge.app(std::clone::Clone::clone), settings });
        Self { bridge: Some(bridge), router }
    }

    pub(crate) fn bridge(&self) -> &Bridge {
        self.bridge.as_ref().unwrap()
    }

    pub(crate) async fn call(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("{PREFIX}{path}"))
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_TYPE, "application/json");
        let body = body.map_or_else(Body::empty, |b| Body::from(b.to_string()));
        self.answer(request.body(body).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> Answer {
        self.call("GET", path, token, None).await
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: Value) -> Answer {
        self.call("POST", path, token, Some(body)).await
    }

    /// Joins from an address, perhaps by way of a proxy.
    pub(crate) async fn join_from(&self, peer: &str, forwarded: Option<&str>, name: &str) -> Answer {
        let peer: SocketAddr = peer.parse().unwrap();
        let mut request = Request::post(PREFIX).header(header::CONTENT_TYPE, "application/json");
        if let Some(forwarded) = forwarded {
            request = request.header("x-forwarded-for", forwarded);
        }
        let body = Body::from(json!({ "name": name }).to_string());
        self.answer(request.extension(ConnectInfo(peer)).body(body).unwrap()).await
    }

    /// The token of a new agent from an address of its own.
    pub(crate) async fn token(&self, name: &str) -> String {
        let joined = self.join_from(&fresh_peer(name), None, name).await;
        assert_eq!(joined.status, 201, "{joined:?}");
        joined.body["token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn answer(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let retry_after =
            parts.headers.get(header::RETRY_AFTER).map(|v| v.to_str().unwrap().parse().unwrap());
        let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
        Answer { status: parts.status.as_u16(), retry_after, body }
    }
}

/// Another one for each name.
fn fresh_peer(name: &str) -> String {
    let sum = name.bytes().fold(0_u16, |sum, b| sum.wrapping_mul(31).wrapping_add(u16::from(b)));
    let [a, b] = sum.to_be_bytes();
    format!("10.9.{a}.{b}:4711")
}
