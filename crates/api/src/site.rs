//! What stands at the root for programs: the guide and the probes.

use axum::{
    Json, Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use bytes::Bytes;
use http::{StatusCode, header};
use parlour_app::view::Readiness;
use serde_json::json;

use crate::{ApiSettings, extract::Shared, guide};

pub(crate) fn routes(settings: &ApiSettings) -> Router<Shared> {
    let guide = guide_route(settings);
    let table: [(&str, MethodRouter<Shared>); 4] = [
        ("/agents.txt", guide.clone()),
        ("/agents.md", guide),
        ("/health", get(health)),
        ("/ready", get(ready)),
    ];
    table.into_iter().fold(Router::new(), |router, (path, answers)| {
        router.route(&format!("{path}/"), answers.clone()).route(path, answers)
    })
}

/// Also served while agents are switched off: it says what to do then.
fn guide_route(settings: &ApiSettings) -> MethodRouter<Shared> {
    let text = Bytes::from(guide::text(settings));
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::CACHE_CONTROL, "public, max-age=300")];
    get(move || std::future::ready((headers, text.clone())))
}

/// 200 while the process and its store work.
async fn health(State(api): State<Shared>) -> Response {
    if api.app.healthy().await {
        return Json(json!({"status": "ok"})).into_response();
    }
    failing("The store does not answer. See the log.")
}

/// 200 once the homeserver knows us and the lobbies are there.
async fn ready(State(api): State<Shared>) -> Response {
    match api.app.readiness() {
        Readiness::Ready => Json(json!({"status": "ready"})).into_response(),
        Readiness::NotYet(reason) => failing(&reason),
    }
}

fn failing(reason: &str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"status": "unavailable", "reason": reason})))
        .into_response()
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, root},
    };

    #[tokio::test]
    async fn probes() {
        let mut all = Vec::new();
        for path in ["/health", "/ready", "/ready/"] {
            all.push(ask(App::open(), root(path)).await);
        }
        for path in ["/health", "/ready"] {
            all.push(ask(App::broken(), root(path)).await);
        }
        insta::assert_snapshot!(all.join("\n"));
    }

    #[tokio::test]
    async fn the_guide_is_served_when_all_else_is_switched_off() {
        for path in ["/agents.txt", "/agents.md", "/agents.txt/"] {
            let answer = ask(App::switched_off(), root(path)).await;
            let head = "200\ncontent-type: text/plain; charset=utf-8\ncache-control: public, max-age=300\n";
            assert!(answer.starts_with(head), "{answer}");
        }
    }
}
