//! From a POST to rmcp and back.

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequestParts, Request},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use parlour_domain::limits::MAX_SEND_BODY_BYTES;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde_json::Value;
use std::sync::Arc;
use tower::Service;

use super::{
    accept::only_streams,
    desk::{Asked, Desk},
    jsonrpc::{Call, Incoming, Refused, json_response, read},
    normal::normal,
    origin::is_rebound,
    schema::Schemas,
    stream::streamed,
    version,
};
use crate::{
    correlation::CorrelationId,
    extract::{From as FromSource, Shared, bearer, is_json, take},
};

type Rmcp = StreamableHttpService<Desk, NeverSessionManager>;

pub(super) struct Front {
    api: Shared,
    rmcp: Rmcp,
}

impl Front {
    pub(super) fn new(api: Shared) -> Self {
        let desk = Desk::new(Arc::clone(&api));
        let factory = move || Ok(desk.clone());
        Self { api, rmcp: StreamableHttpService::new(factory, Arc::default(), config()) }
    }

    pub(super) async fn answer(self: Arc<Self>, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let body = match take(&parts.headers, body, MAX_SEND_BODY_BYTES).await {
            Ok(body) => body,
            Err(fault) => return hanging_up(Refused::invalid(fault.message)),
        };
        match self.asked(parts, &body).await {
            Ok((parts, incoming)) => self.answered(parts, incoming).await,
            Err(refused) => refused.into_response(),
        }
    }

    /// What is asked, and the head that goes with it to rmcp: with all that its own checks would stumble over put right,
    /// and without the token.
    async fn asked(&self, mut parts: Parts, body: &Bytes) -> Result<(Parts, Incoming), Refused> {
        if is_rebound(&parts.headers, &self.api.settings.public_url) {
            return Err(Refused::forbidden(
                "This host name is not this server's. Use the address in /agents.txt.",
            ));
        }
        let schemas = Schemas::of(parts.uri.query())?;
        if !is_json(&parts.headers) {
            return Err(Refused::invalid(
                "Send the header `Content-Type: application/json` with the message.",
            ));
        }
        let incoming = read(body)?;
        let Ok(FromSource(source)) = FromSource::from_request_parts(&mut parts, &self.api).await;
        let id = parts.extensions.get().copied().unwrap_or(CorrelationId(uuid::Uuid::nil()));
        let bearer = bearer(&parts.headers).map(|token| token.to_owned().into());
        parts.extensions.insert(Asked { bearer, source, id, schemas });
        Ok((parts, incoming))
    }

    async fn answered(self: Arc<Self>, mut parts: Parts, incoming: Incoming) -> Response {
        let stream = only_streams(&parts.headers);
        smooth(&mut parts.headers);
        let work: BoxFuture<'static, Response> = match incoming {
            Incoming::Silent => return StatusCode::ACCEPTED.into_response(),
            Incoming::Call(call) => Box::pin(async move { self.one(parts, call).await }),
            Incoming::Batch(items) if items.iter().all(Option::is_none) => {
                return StatusCode::ACCEPTED.into_response();
            }
            Incoming::Batch(items) => Box::pin(async move { self.all(parts, items).await }),
        };
        if stream { streamed(work).await } else { work.await }
    }

    async fn one(&self, mut parts: Parts, call: Call) -> Response {
        let settled = version::settle(&mut parts.headers, &call).and_then(|()| normal(call));
        match settled {
            Ok(call) => self.ask(parts, call).await,
            Err(refused) => refused.into_response(),
        }
    }

    async fn ask(&self, parts: Parts, call: Call) -> Response {
        let request = Request::from_parts(parts, Body::from(call.bytes()));
        let Ok(response) = self.rmcp.clone().call(request).await;
        let response = response.map(Body::new);
        if is_json(response.headers()) {
            return response;
        }
        // none is left that we know of; whatever it is, a client can read this
        Refused::invalid("This request does not fit the protocol version that it names.")
            .about(&call)
            .into_response()
    }

    /// One after the other, since a later one may rest on an earlier.
    async fn all(&self, parts: Parts, items: Vec<Option<Result<Call, Refused>>>) -> Response {
        let mut answers = Vec::new();
        for item in items.into_iter().flatten() {
            answers.push(match item {
                Ok(call) => body_of(self.one(parts.clone(), call).await).await,
                Err(refused) => refused.body(),
            });
        }
        json_response(StatusCode::OK, Value::Array(answers).to_string().into_bytes())
    }
}

fn config() -> StreamableHttpServerConfig {
    // what of hosts and origins matters, `is_rebound` has looked at; rmcp would refuse every host but this machine
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
}

/// rmcp wants both forms accepted and a well-formed Host. A session id is one of another server, or of this one before
/// somebody put it behind another address.
fn smooth(headers: &mut HeaderMap) {
    let both = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(header::ACCEPT, both);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    for name in ["authorization", "content-length", "transfer-encoding", "origin", "mcp-session-id"] {
        headers.remove(name);
    }
}

async fn body_of(response: Response) -> Value {
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
    serde_json::from_slice(&body).unwrap_or_default()
}

/// What the client still sends would be taken for its next request.
fn hanging_up(refused: Refused) -> Response {
    let mut response = refused.into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
