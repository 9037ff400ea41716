//! A homeserver that says what a test wants.

#![allow(dead_code, reason = "each test file uses its part of this")]

use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, Request, Respond, ResponseTemplate,
    matchers::{any, method, path, path_regex, query_param, query_param_is_missing},
};

use crate::support::{Place, Run, http};

pub(crate) struct Fake {
    server: MockServer,
}

pub(crate) fn json_answer(status: u16, body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

pub(crate) fn error(status: u16, errcode: &str) -> ResponseTemplate {
    json_answer(status, &json!({"errcode": errcode, "error": "told by the fake"}))
}

impl Fake {
    /// Answers everything with the same.
    pub(crate) async fn always(answer: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(answer).mount(&server).await;
        Self { server }
    }

    /// Knows us and has everything, but no room under the lobby's alias. What is `put` later goes first.
    pub(crate) async fn good() -> Self {
        let fake = Self { server: MockServer::start().await };
        let us = |user: &str| json_answer(200, &json!({"user_id": user}));
        fake.put(
            Mock::given(path("/_matrix/client/versions")),
            json_answer(200, &json!({"versions": ["v1.1", "v1.16"]})),
        )
        .await;
        fake.put(whoami().and(query_param_is_missing("user_id")), us("@_parlour_parlour:hs.test")).await;
        fake.put(whoami().and(query_param("user_id", "@parlour:hs.test")), us("@parlour:hs.test")).await;
        fake.put(ping(), json_answer(200, &json!({"duration_ms": 1}))).await;
        fake.put(alias(), error(404, "M_NOT_FOUND")).await;
        fake.put(Mock::given(path_regex("/presence/")), json_answer(200, &json!({"presence": "offline"})))
            .await;
        fake
    }

    pub(crate) async fn put(&self, mock: wiremock::MockBuilder, answer: impl Respond + 'static) {
        mock.respond_with(answer).with_priority(5).mount(&self.server).await;
    }

    /// Stands over what was put.
    pub(crate) async fn instead(&self, mock: wiremock::MockBuilder, answer: impl Respond + 'static) {
        mock.respond_with(answer).with_priority(1).mount(&self.server).await;
    }

    pub(crate) fn url(&self) -> String {
        self.server.uri()
    }

    /// `parlour check` with a registration that fits.
    pub(crate) async fn check(&self, more: &str) -> Run {
        let place = Place::registered(&self.url(), more);
        self.check_in(place).await
    }

    pub(crate) async fn check_in(&self, place: Place) -> Run {
        tokio::task::spawn_blocking(move || place.run(&["check"])).await.unwrap()
    }
}

pub(crate) fn whoami() -> wiremock::MockBuilder {
    Mock::given(path("/_matrix/client/v3/account/whoami"))
}

pub(crate) fn ping() -> wiremock::MockBuilder {
    Mock::given(method("POST")).and(path("/_matrix/client/v1/appservice/parlour/ping"))
}

pub(crate) fn alias() -> wiremock::MockBuilder {
    Mock::given(path("/_matrix/client/v3/directory/room/%23lobby%3Ahs.test"))
}

/// Calls the bridge back with a token of its own before it answers, as a homeserver does.
pub(crate) struct PingBack {
    pub(crate) port: u16,
    pub(crate) hs_token: String,
}

impl Respond for PingBack {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        let body = r#"{"transaction_id":"parlour-check"}"#;
        let request = format!(
            "POST /_matrix/app/v1/ping HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\
             Content-Type: application/json\r\nConnection: close\r\n\r\n{body}",
            self.hs_token,
            body.len(),
        );
        match http(self.port, &request) {
            Some((200, _)) => json_answer(200, &json!({"duration_ms": 1})),
            Some(_) => error(502, "M_BAD_STATUS"),
            None => error(502, "M_CONNECTION_FAILED"),
        }
    }
}
