//! What the operator's socket answers.

use std::sync::Arc;

use axum::response::Response;
use rstest::rstest;
use tower::ServiceExt;

use super::support::{Ask, root, router, settings, shown};
use crate::{Api, double::App, operator_router};

async fn respond(app: App, ask: Ask) -> Response {
    let api = Api { app: Arc::new(app), settings: settings() };
    operator_router(api).oneshot(ask.request()).await.unwrap()
}

fn path(path: &str) -> Ask {
    root(&format!("/v1/operator{path}"))
}

#[tokio::test]
async fn every_list_and_every_deed_has_its_shape() {
    let mut told = Vec::new();
    for list in [
        "/agents",
        "/agent?agent=x",
        "/rooms",
        "/knocks",
        "/codes",
        "/quotas",
        "/source?source=192.0.2.7",
        "/audit",
    ] {
        told.push(format!("GET {list} {}", shown(respond(App::open(), path(list)).await).await));
    }
    for deed in ["/agent?agent=x", "/room?room=x", "/code?room=x"] {
        told.push(format!(
            "DELETE {deed} {}",
            shown(respond(App::open(), path(deed).by("DELETE")).await).await
        ));
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[rstest]
#[case::nobody("/agent", "agent")]
#[case::blank("/agent?agent=%20", "agent")]
#[case::nothing("/room", "room")]
#[case::other("/code?rooms=x", "rooms")]
#[tokio::test]
async fn a_deed_says_what_it_is_done_to(#[case] asked: &str, #[case] field: &str) {
    let told = shown(respond(App::open(), path(asked).by("DELETE")).await).await;
    assert!(told.starts_with("400") && told.contains(&format!("\"field\": \"{field}\"")), "{told}");
}

#[rstest]
#[case("Scout%20%232316", "Scout #2316")]
#[case("%40agent%5Fa%3Ax", "@agent_a:x")]
#[case("a%2Bb", "a+b")]
#[tokio::test]
async fn names_come_as_they_were_typed(#[case] sent: &str, #[case] read: &str) {
    let app = App::open();
    let asked = app.notes();
    respond(app, path(&format!("/agent?agent={sent}")).by("DELETE")).await;
    assert_eq!(*asked.lock(), [format!("disable_agent {read:?}")]);
}

#[rstest]
#[case("/agents")]
#[case("/status")]
#[case("/agent?agent=x")]
#[tokio::test]
async fn nothing_of_it_is_reachable_over_the_network(#[case] asked: &str) {
    let response = router(&Arc::new(App::open())).oneshot(path(asked).request()).await.unwrap();
    assert_eq!(response.status(), 404);
}

#[rstest]
#[case::all("/audit", "audit 9223372036854775807 1000")]
#[case::some("/audit?withinMs=60000&limit=5", "audit 60000 5")]
#[case::for_ever("/audit?withinMs=99999999999999999999", "audit 9223372036854775807 1000")]
#[tokio::test]
async fn so_far_back_and_so_many(#[case] asked: &str, #[case] read: &str) {
    let app = App::open();
    let notes = app.notes();
    respond(app, path(asked)).await;
    assert_eq!(*notes.lock(), [read]);
}

#[rstest]
#[case("0")]
#[case("1001")]
#[case("ten")]
#[tokio::test]
async fn no_more_than_can_be_shown(#[case] limit: &str, #[values("audit", "quotas")] list: &str) {
    let told = shown(respond(App::open(), path(&format!("/{list}?limit={limit}"))).await).await;
    assert!(told.starts_with("400") && told.contains("\"field\": \"limit\""), "{told}");
}

#[rstest]
#[case::all("/quotas", "all_quotas false 1000")]
#[case::some("/quotas?full=true&limit=5", "all_quotas true 5")]
#[case::address("/source?source=192.0.2.7", "source_quotas true")]
#[case::with_a_port("/source?source=192.0.2.7%3A443", "source_quotas true")]
#[case::on_both("/source?source=%20%3A%3Affff%3A192.0.2.7%20", "source_quotas true")]
#[case::another("/source?source=%5B2001%3Adb8%3A%3A7%5D%3A443", "source_quotas false")]
#[tokio::test]
async fn quotas_are_asked_of_all_or_of_a_source(#[case] asked: &str, #[case] read: &str) {
    let app = App::open();
    let notes = app.notes();
    respond(app, path(asked)).await;
    assert_eq!(*notes.lock(), [read]);
}

/// What was typed is not repeated: half an address is still somebody's.
#[rstest]
#[case::none("/source")]
#[case::blank("/source?source=%20")]
#[case::name("/source?source=example.org")]
#[case::part("/source?source=192.0.2")]
#[case::network("/source?source=192.0.2.7%2F24")]
#[tokio::test]
async fn what_is_no_address_is_refused_and_not_repeated(#[case] asked: &str) {
    let told = shown(respond(App::open(), path(asked)).await).await;
    assert!(told.starts_with("400") && told.contains("\"field\": \"source\""), "{told}");
    assert!(!told.contains("example.org") && !told.contains("192.0.2.7/"), "{told}");
    assert!(told.contains("192.0.2.7 or 2001:db8::7"), "{told}");
}
