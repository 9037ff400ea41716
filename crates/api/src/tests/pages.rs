//! What people see with a browser.

use std::sync::Arc;

use axum::response::Response;
use http::{StatusCode, header};
use rstest::rstest;
use tower::ServiceExt;

use super::{
    samples::{self, HOSTILE},
    support::{Ask, response, root, settings, shown},
};
use crate::{Api, ApiSettings, double::App};

const UNKNOWN: &str = "0199aaaa-0000-7000-8000-000000000001";

async fn body(response: Response) -> String {
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

async fn page(app: App, path: &str) -> String {
    body(response(app, root(path)).await).await
}

fn value<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |v| v.to_str().unwrap())
}

fn number(at: usize) -> String {
    samples::watchable(true)[at].number.to_string()
}

#[rstest]
#[case("/", 200, "no-cache")]
#[case("/watch", 200, "no-store")]
#[case("/watch/", 200, "no-store")]
#[case("/watch/lobby", 200, "no-store")]
#[case("/lobby/lobby", 200, "no-cache")]
#[case("/watch/nothing", 404, "no-cache")]
#[case("/lobby/nothing", 404, "no-cache")]
#[tokio::test]
async fn pages_are_html_that_runs_nothing_of_others(
    #[case] path: &str,
    #[case] status: u16,
    #[case] cached: &str,
) {
    let response = response(App::open(), root(path)).await;
    assert_eq!(response.status(), status);
    assert_eq!(value(&response, "content-type"), "text/html; charset=utf-8");
    assert_eq!(value(&response, "cache-control"), cached);
    assert_eq!(value(&response, "x-content-type-options"), "nosniff");
    assert_eq!(value(&response, "vary"), "Accept, Accept-Language");
    let policy = value(&response, "content-security-policy").to_owned();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; ") && !policy.contains("unsafe"));
    let page = body(response).await;
    assert!(page.starts_with("<!doctype html>") && page.contains("<main id=\"main\""));
    for inline in ["<style", " style=", "onclick", "javascript:"] {
        assert!(!page.contains(inline), "{inline} in {path}");
    }
}

#[tokio::test]
async fn what_people_write_is_escaped() {
    for path in ["/", "/watch", "/lobby/garden", "/watch/garden"] {
        let page = page(App::open().with_everything(), path).await;
        for raw in [HOSTILE, "<img", "</script><", "<Garden>", "onerror=\""] {
            assert!(!page.contains(raw), "{raw} in {path}");
        }
        assert!(page.contains("Garden&#62;") || page.contains("Garden&gt;"), "{path}: {page}");
    }
}

#[tokio::test]
async fn a_message_has_all_its_parts() {
    let page = page(App::open().with_everything(), "/watch").await;
    for part in [
        "<bdi class=\"name\">Ada</bdi>",
        "Hello <mark>Scout #2316</mark>",
        "datetime=\"2026-11-30T00:53Z\">00:53</time>",
        "<h2 class=\"day\">30 November 2026</h2>",
        "<h2 class=\"day\">1 December 2026</h2>",
        "<span class=\"tag\">agent</span>",
        "<a href=\"#m-plain-line_00000\">answers",
        "answers an earlier message",
        "edited</span>",
        "<details><summary>Show the rest</summary>",
        "The message goes on",
        "Attachment:",
        "in <bdi>Lobby</bdi>",
        "?before=plain-line_00000",
        "data-stream=\"/watch?lang=en&#38;after=cursor\"",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
}

#[tokio::test]
async fn pages_speak_the_language_that_is_asked_for() {
    for (path, heading) in [("/", "同在一个房间"), ("/watch", "旁观"), ("/lobby/lobby", "你自己也来")]
    {
        let asked = root(path).with("accept-language", "zh-CN,zh;q=0.9,en;q=0.8");
        let by_header = body(response(App::open(), asked).await).await;
        let by_address = page(App::open(), &format!("{path}?lang=zh")).await;
        for page in [&by_header, &by_address] {
            assert!(page.contains("<html lang=\"zh\">") && page.contains(heading), "{path}: {page}");
        }
        assert!(by_address.contains("href=\"/?lang=zh\"") && !by_header.contains("href=\"/?lang=zh\""));
        assert!(page(App::open(), path).await.contains("<html lang=\"en\">"));
    }
}

#[tokio::test]
async fn the_line_to_paste_names_this_server() {
    let home = page(App::open(), "/").await;
    assert!(home.contains("Read https://agents.example.org/agents.txt and take a seat in the lobby."));
    assert!(home.contains("https://agents.example.org/mcp"));
    let lobby = page(App::open(), &format!("/lobby/{}", number(0))).await;
    let address = format!("https://agents.example.org/lobby/{}", number(0));
    assert!(lobby.contains(&format!("take a seat in the room {address}.")), "{lobby}");
    assert!(
        lobby.contains("https://matrix.to/#/%23lobby%3Aexample.org")
            || lobby.contains("https://matrix.to/&#35;/")
    );
    assert!(page(App::switched_off(), "/").await.contains("switched off"));
}

/// The double knows of no private room, so this is about the words; that there is no other way is shown with a real
/// room in the app's tests and in the stories.
#[tokio::test]
async fn a_number_that_is_no_lobbys_says_how_to_knock_whatever_is_behind_it() {
    let unknown = page(App::open(), &format!("/lobby/{}", UNKNOWN.to_uppercase())).await;
    assert!(unknown.contains(&format!("knock at the room https://agents.example.org/lobby/{UNKNOWN},")));
    let odd = page(App::open(), "/lobby/%3Cscript%3E").await;
    assert!(!odd.contains("knock at the room") && !odd.contains("<script>"));
    assert_eq!(response(App::open(), root("/lobby/%ff")).await.status(), 400);
}

#[tokio::test]
async fn browsers_keep_what_did_not_change() {
    let first = response(App::open(), root("/")).await;
    let tag = value(&first, "etag").to_owned();
    let again = response(App::open(), root("/").with("if-none-match", &tag)).await;
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert!(body(again).await.is_empty());
    let page = body(first).await;
    for name in ["window.css", "window.js", "icon.svg"] {
        let path =
            page.split('"').find(|p| p.starts_with("/assets/") && p.ends_with(name)).unwrap().to_owned();
        let file = response(App::open(), root(&path)).await;
        assert_eq!(value(&file, "cache-control"), "public, max-age=31536000, immutable");
        let tag = value(&file, "etag").to_owned();
        let again = response(App::open(), root(&path).with("if-none-match", &format!("W/{tag}"))).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    }
    let old = response(App::open(), root("/assets/0123456789abcdef/window.js")).await;
    assert_eq!(old.status(), StatusCode::NOT_FOUND);
}

fn streaming(path: &str) -> Ask {
    root(path).with(header::ACCEPT.as_str(), "text/event-stream")
}

#[tokio::test]
async fn what_is_new_comes_as_events() {
    let response = response(App::open(), streaming("/watch?lang=zh&after=cursor")).await;
    assert_eq!(value(&response, "content-type"), "text/event-stream");
    assert_eq!(value(&response, "cache-control"), "no-store");
    assert_eq!(value(&response, "x-accel-buffering"), "no");
    let events = body(response).await;
    let names: Vec<&str> = events.lines().filter_map(|l| l.strip_prefix("event: ")).collect();
    assert_eq!(names, ["reset", "keep", "add", "change", "remove", "expire"]);
    let ids: Vec<&str> = events.lines().filter_map(|l| l.strip_prefix("id: ")).collect();
    assert_eq!(ids, ["c1"], "only what is not told again when one comes back has an id");
    let data: Vec<serde_json::Value> = events
        .lines()
        .filter_map(|l| l.strip_prefix("data: "))
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(data.len(), names.len());
    assert_eq!(data[2]["before"], "orphan-line_0000");
    let html = data[2]["html"].as_str().unwrap();
    assert!(html.contains("<article") && html.contains("已编辑") && !html.contains("<img"), "{html}");
}

#[rstest]
#[case("/watch", None, "watch None None")]
#[case("/watch?after=a", None, "watch None Some(\"a\")")]
#[case("/watch?after=a", Some("b"), "watch None Some(\"b\")")]
#[case("/watch?lang=zh&after=a", Some(""), "watch None Some(\"a\")")]
#[case("/watch/lobby", Some("b"), "watch Some(\"lobby\") Some(\"b\")")]
#[tokio::test]
async fn a_stream_begins_where_the_browser_was(
    #[case] path: &str,
    #[case] last: Option<&str>,
    #[case] asked: &str,
) {
    let ask = streaming(path);
    let ask = match last {
        Some(last) => ask.with("last-event-id", last),
        None => ask,
    };
    let noted = App::asked(ask).await;
    assert!(noted.starts_with(asked), "{noted}");
}

#[tokio::test]
async fn a_stream_that_cannot_be_is_an_error_as_everywhere() {
    let told = shown(response(App::broken(), streaming("/watch")).await).await;
    assert!(told.starts_with("503\ncontent-type: application/json"), "{told}");
}

#[tokio::test]
async fn the_window_can_be_walled_up() {
    let api = Api { app: Arc::new(App::open()), settings: ApiSettings { window: false, ..settings() } };
    let router = crate::router(api);
    for path in ["/watch", "/watch/lobby"] {
        let response = router.clone().oneshot(root(path).request()).await.unwrap();
        assert_eq!(response.status(), 404, "{path}");
        assert_eq!(value(&response, "content-type"), "application/json");
    }
    for path in ["/", "/lobby/lobby"] {
        let page = body(router.clone().oneshot(root(path).request()).await.unwrap()).await;
        assert!(!page.contains("/watch"), "{path}");
    }
}
