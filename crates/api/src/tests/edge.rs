//! What every answer has, whatever answers.

use axum::response::Response;
use http::{HeaderMap, header};
use rstest::rstest;

use super::support::{Ask, ID, ask, delete, get, post, put, response, root};
use crate::{correlation, double::App};

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |v| v.to_str().unwrap())
}

fn correlation(response: &Response) -> &str {
    text(response.headers(), correlation::HEADER.as_str())
}

#[rstest]
#[case::success(get("/me"), App::open(), 200)]
#[case::unauthorized(get("/me").without("authorization"), App::open(), 401)]
#[case::no_content(delete("/me"), App::open(), 204)]
#[case::bad_request(post("/me/ack", "{"), App::open(), 400)]
#[case::unavailable(get("/me"), App::broken(), 503)]
#[case::switched_off(get("/me").without("authorization"), App::switched_off(), 503)]
#[case::panic(get("/rooms"), App::broken(), 500)]
#[case::no_route(root("/v1/nothing"), App::open(), 404)]
#[case::no_method(delete("/rooms"), App::open(), 405)]
#[case::probe(root("/health"), App::broken(), 503)]
#[tokio::test]
async fn every_answer_can_be_read_by_scripts_and_found_in_the_log(
    #[case] ask: Ask,
    #[case] app: App,
    #[case] status: u16,
) {
    let response = response(app, ask.with("origin", "https://else.example")).await;
    assert_eq!(response.status(), status);
    let headers = response.headers();
    assert_eq!(text(headers, "access-control-allow-origin"), "*");
    assert_eq!(text(headers, "access-control-expose-headers"), "retry-after,x-correlation-id");
    assert_eq!(text(headers, "access-control-allow-credentials"), "");
    assert_eq!(text(headers, "cache-control"), "no-store");
    assert_eq!(correlation(&response), ID.text());
}

#[tokio::test]
async fn errors_of_the_edge() {
    let mut all = Vec::new();
    for ask_for in [
        root("/v1/nothing"),
        root("/mcp"),
        root("/mcp/x"),
        delete("/rooms"),
        get("/me/ack"),
        put("/me/messages"),
    ] {
        all.push(ask(App::open(), ask_for).await);
    }
    all.push(ask(App::broken(), get("/rooms")).await);
    all.push(ask(App::broken(), get("/me")).await);
    insta::assert_snapshot!(all.join("\n"));
}

#[rstest]
#[case::none(None, false)]
#[case::upper_case(Some("0199AAAA-BBBB-7CCC-8DDD-EEEEEEEEEEEE"), true)]
#[case::no_uuid(Some("x forged=1"), false)]
#[case::other_form(Some("0199aaaabbbb7ccc8dddeeeeeeeeeeee"), false)]
#[case::braces(Some("{0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee}"), false)]
#[tokio::test]
async fn a_correlation_id_is_kept_if_it_is_a_uuid(#[case] given: Option<&str>, #[case] kept: bool) {
    let ask = get("/me").without("x-correlation-id");
    let ask = given.map_or(ask.clone(), |id| ask.with("x-correlation-id", id));
    let response = response(App::open(), ask).await;
    let fresh = "01a229f1-2800-7707-8707-070707070707";
    assert_eq!(correlation(&response), if kept { ID.text() } else { fresh.to_owned() });
}

#[rstest]
#[case("/me/messages", "POST", "content-type,authorization")]
#[case("/nothing", "DELETE", "")]
#[tokio::test]
async fn preflight(#[case] path: &str, #[case] method: &str, #[case] headers: &str) {
    let ask = get(path)
        .by("OPTIONS")
        .without("authorization")
        .with("origin", "https://else.example")
        .with("access-control-request-method", method)
        .with("access-control-request-headers", headers);
    let response = response(App::open(), ask).await;
    assert_eq!(response.status(), 200);
    let headers = response.headers();
    assert_eq!(text(headers, "access-control-allow-origin"), "*");
    assert_eq!(text(headers, "access-control-allow-methods"), "GET,POST,PUT,DELETE");
    assert_eq!(text(headers, "access-control-allow-headers"), "authorization,content-type");
}

#[tokio::test]
async fn methods_that_are_allowed_are_named() {
    let allowed = async |ask: Ask| {
        let response = response(App::open(), ask.by("PATCH")).await;
        assert_eq!(response.status(), 405);
        text(response.headers(), "allow").to_owned()
    };
    assert_eq!(allowed(get("/me")).await, "GET,HEAD,DELETE");
    assert_eq!(allowed(get("/me/")).await, "GET,HEAD,DELETE");
    assert_eq!(allowed(get("/me/private-rooms/x/code")).await, "GET,HEAD,PUT,DELETE");
    assert_eq!(allowed(get("")).await, "POST");
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    for (ask, status) in [(get("/me"), 200), (get("/me?x=1"), 400), (root("/agents.txt"), 200)] {
        let response = response(App::open(), ask.by("HEAD")).await;
        assert_eq!(response.status(), status);
        assert_ne!(text(response.headers(), "content-length"), "0");
        assert!(axum::body::to_bytes(response.into_body(), 1).await.unwrap().is_empty());
    }
}

/// It would hand over, and end a wait that is under way.
#[tokio::test]
async fn head_never_waits() {
    assert_eq!(App::asked(get("/me/messages?wait=30").by("HEAD")).await, "");
    for (ask, status) in [
        (get("/me/messages"), 200),
        (get("/me/messages/?wait=5"), 200),
        (get("/me/messages?wait=x"), 400),
        (get("/me/messages").without("authorization"), 401),
    ] {
        let response = response(App::open(), ask.by("HEAD")).await;
        assert_eq!(response.status(), status);
        assert_eq!(text(response.headers(), "content-type"), "application/json");
    }
}

#[tokio::test]
async fn a_last_slash_changes_nothing() {
    let pairs = [("/me", "/me/"), ("/rooms", "/rooms/"), ("/me?x=1", "/me/?x=1")];
    for (path, slashed) in pairs {
        assert_eq!(ask(App::open(), get(path)).await, ask(App::open(), get(slashed)).await);
    }
    let body = r#"{"name":"Scout"}"#;
    assert_eq!(ask(App::open(), post("", body)).await, ask(App::open(), post("/", body)).await);
}

#[tokio::test]
async fn every_route_answers_below_the_prefix_and_no_other() {
    for crate::openapi::Path { path, .. } in crate::rest::table() {
        let path = path.replace(['{', '}'], "");
        let known = response(App::open(), get(&path).by("PATCH")).await;
        assert_eq!(known.status(), 405, "{path}");
        assert!(known.headers().contains_key(header::ALLOW), "{path}");
        let bare = if path.is_empty() { "/v1" } else { &path };
        assert_eq!(response(App::open(), root(bare)).await.status(), 404, "{bare}");
    }
}

#[tokio::test]
async fn a_router_beside_ours_keeps_its_own_ways() {
    let beside = axum::Router::new().route("/_matrix/{*rest}", axum::routing::get(async || "theirs"));
    let both = super::support::router(&std::sync::Arc::new(App::open())).merge(beside);
    let status = async |path: &str| {
        let response = tower::ServiceExt::oneshot(both.clone(), root(path).request()).await.unwrap();
        (response.status().as_u16(), response.headers().contains_key(correlation::HEADER))
    };
    assert_eq!(status("/_matrix/app/v1/x").await, (200, false));
    assert_eq!(status("/nothing").await, (404, true));
    assert_eq!(status("/health").await, (200, true));
}
