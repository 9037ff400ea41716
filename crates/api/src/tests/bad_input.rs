//! Requests that are wrong in more ways than one, or in any way at all.

use parlour_domain::limits::{MAX_BODY_BYTES, MAX_SEND_BODY_BYTES};
use proptest::prelude::*;
use rstest::rstest;

use super::support::{Ask, ask, get, post, response};
use crate::double::App;

/// Several mistakes in one request: which is told first.
#[rstest]
#[case::switched_off(App::switched_off(), post("/me/ack?x=1", "{").without("authorization"), "network_agent.disabled")]
#[case::switched_off_joining(App::switched_off(), post("?x=1", "{"), "network_agent.disabled")]
#[case::token(App::open(), post("/me/ack?x=1", "{").without("authorization"), "network_agent.unauthorized")]
#[case::token_too_large(App::open(), post("/me/ack", vec![b' '; MAX_BODY_BYTES + 1]).without("authorization"), "network_agent.unauthorized")]
#[case::query(App::open(), post("/me/ack?x=1", "{").without("content-type"), "Unknown parameter `x`")]
#[case::size(App::open(), post("/me/ack", vec![b' '; MAX_BODY_BYTES + 1]).without("content-type"), "too large")]
#[case::content_type(App::open(), post("/me/ack", "{").without("content-type"), "Content-Type")]
#[case::body(App::open(), post("/me/ack", r#"{"x":1}"#), "Unknown field `x`")]
#[tokio::test]
async fn the_order_of_checks(#[case] app: App, #[case] request: Ask, #[case] expected: &str) {
    let answer = ask(app, request).await;
    assert!(answer.contains(expected), "{answer}");
}

/// A body of exactly `size` bytes.
fn sized(before: &str, after: &str, size: usize) -> String {
    let filling = " ".repeat(size - before.len() - after.len());
    format!("{before}{filling}{after}")
}

#[rstest]
#[case::join("", "{\"name\":\"Scout\"", MAX_BODY_BYTES, 201)]
#[case::ack("/me/ack", "{\"eventId\":\"$e\"", MAX_BODY_BYTES, 200)]
#[case::enter("/me/rooms", "{", MAX_BODY_BYTES, 200)]
#[case::send("/me/messages", "{\"text\":\"Hi\"", MAX_SEND_BODY_BYTES, 201)]
#[case::create("/me/private-rooms", "{\"name\":\"Den\"", MAX_BODY_BYTES, 201)]
#[case::invite("/me/private-rooms/x/invitations", "{\"accountId\":\"@a:x\"", MAX_BODY_BYTES, 204)]
#[tokio::test]
async fn bodies_may_be_so_large_and_no_larger(
    #[case] path: &str,
    #[case] before: &str,
    #[case] limit: usize,
    #[case] status: u16,
) {
    assert_eq!(response(App::open(), post(path, sized(before, "}", limit))).await.status(), status);
    let answer = ask(App::open(), post(path, sized(before, "}", limit + 1))).await;
    assert!(answer.starts_with("400") && answer.contains(&format!("at most {limit} bytes")), "{answer}");
}

/// Nothing that is refused for its shape reaches a use case.
#[rstest]
#[case(post("", r#"{"name":"Scout","rooms":"x"}"#))]
#[case(post("", r#"["Scout"]"#))]
#[case(post("/me/messages", r#"{"text":"\ud800"}"#))]
#[case(post("/me/messages", r#"{"text":"a","mentions":"@a:x"}"#))]
#[case(post("/me/messages", r#"{"text":"a","text":"b"}"#))]
#[case(post("/me/messages", "{\"text\":\"\u{0}\"}"))]
#[case(get("/me/messages?wait=1.5"))]
#[case(get("/me/rooms/!r:x/messages?limit="))]
#[tokio::test]
async fn what_is_refused_is_not_done(#[case] ask: Ask) {
    assert_eq!(App::asked(ask).await, "");
}

fn paths() -> impl Strategy<Value = &'static str> {
    const PATHS: &[&str] = &[
        "",
        "/rooms",
        "/me",
        "/me/rooms",
        "/me/messages",
        "/me/messages/lookup",
        "/me/ack",
        "/me/rooms/!r:x/messages",
        "/me/private-rooms",
        "/me/private-rooms/x/invitations",
        "/me/private-rooms/x/knocks/y",
    ];
    prop::sample::select(PATHS)
}

/// The double never fails by itself: what it gets through the edge is well formed.
fn status(ask: Ask) -> u16 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(response(App::open(), ask)).status().as_u16()
}

proptest! {
    #[test]
    fn no_body_makes_us_fail(path in paths(), body: Vec<u8>) {
        let status = status(post(path, body));
        prop_assert!(status < 500, "{}", status);
    }

    #[test]
    fn nor_does_anything_like_json(path in paths(), key in "name|text|eventId|code|[a-z]{0,3}", value in r#"[\[\]{}":,0-9a-z\\u ]{0,40}"#) {
        let status = status(post(path, format!(r#"{{"{key}":{value}}}"#)));
        prop_assert!(status < 500, "{}", status);
    }

    #[test]
    fn no_query_makes_us_fail(path in paths(), query in "[a-zA-Z0-9=&%+,$!@:._~/?-]{0,60}") {
        let status = status(get(path).at("?").at(&query));
        prop_assert!(status < 500, "{}", status);
    }

    #[test]
    fn no_path_makes_us_fail(segment in "[a-zA-Z0-9%+,$!@:._~-]{0,40}") {
        let status = status(get("/me/rooms/").at(&segment).at("/messages"));
        prop_assert!(status < 500, "{}", status);
    }
}
