//! Calls against a stand-in homeserver, and against things that are none.

use std::time::Duration;

use rstest::rstest;
use ruma::{device_id, event_id, owned_room_id, room_alias_id, room_id, server_name, user_id};
use serde_json::{Value, json, value::to_raw_value};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{any, body_json, header, method, path, query_param},
};

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn client(url: &str) -> Client {
    Client::new(url, "as-secret".to_owned().into()).unwrap()
}

/// A homeserver that answers everything in one way.
async fn answering(response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(response).mount(&server).await;
    server
}

async fn json_answer(status: u16, body: Value) -> MockServer {
    answering(ResponseTemplate::new(status).set_body_json(body)).await
}

async fn send(client: &Client, timeout: Duration) -> Result<ruma::OwnedEventId, HsError> {
    let content = to_raw_value(&json!({"body": "secret words"})).unwrap();
    let (ada, room) = (user_id!("@agent_ada:x"), room_id!("!r:x"));
    client.send(ada, Some(device_id!("DEV")), room, "m.room.message", "t/1", &content, timeout).await
}

#[tokio::test]
async fn a_send_is_made_as_the_puppet_and_its_device() {
    let server = MockServer::start().await;
    Mock::given(method("PUT"))
        .and(path("/_matrix/client/v3/rooms/%21r%3Ax/send/m.room.message/t%2F1"))
        .and(header("authorization", "Bearer as-secret"))
        .and(header("content-type", "application/json"))
        .and(query_param("user_id", "@agent_ada:x"))
        .and(query_param("device_id", "DEV"))
        .and(query_param("org.matrix.msc3202.device_id", "DEV"))
        .and(body_json(json!({"body": "secret words"})))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"event_id": "$sent"})))
        .mount(&server)
        .await;
    assert_eq!(send(&client(&server.uri()), MINUTE).await.unwrap(), "$sent");
}

#[tokio::test]
async fn where_nothing_listens_nothing_was_sent() {
    assert!(matches!(send(&client("http://127.0.0.1:1"), MINUTE).await, Err(HsError::NotSent(_))));
}

#[tokio::test]
async fn no_tls_on_the_other_side_means_not_sent() {
    let (url, server) = talking(b"SSH-2.0-something else\r\n", true).await;
    let got = send(&client(&url.replace("http:", "https:")), MINUTE).await;
    assert!(matches!(got, Err(HsError::NotSent(_))), "{got:?}");
    server.abort();
}

/// A server that reads a request and then says just this. `first` speaks without being asked.
async fn talking(words: &'static [u8], first: bool) -> (String, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // A task of a test, which ends with it.
    #[allow(clippy::disallowed_methods)]
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        if !first {
            let _ = socket.read(&mut request).await;
        }
        let _ = socket.write_all(words).await;
    });
    (url, server)
}

#[rstest]
#[case::cut_at_once(b"".as_slice())]
#[case::cut_in_the_head(b"HTTP/1.1 200 OK\r\nContent-".as_slice())]
#[case::cut_in_the_body(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{\"event_id\":".as_slice())]
#[case::another_language(b"220 mail.example.org ESMTP\r\n".as_slice())]
#[tokio::test]
async fn a_connection_cut_after_the_request_leaves_it_open(#[case] words: &'static [u8]) {
    let (url, server) = talking(words, false).await;
    let got = send(&client(&url), MINUTE).await;
    server.await.unwrap();
    assert!(matches!(got, Err(HsError::Unknown(_))), "{got:?}");
}

#[tokio::test]
async fn a_refusal_whose_body_is_cut_is_still_one() {
    let (url, server) = talking(b"HTTP/1.1 413 Too Large\r\nContent-Length: 90\r\n\r\n{\"err", false).await;
    let got = send(&client(&url), MINUTE).await;
    server.await.unwrap();
    assert!(got.unwrap_err().is_too_large());
}

#[tokio::test]
async fn a_slow_answer_leaves_it_open() {
    let server = answering(ResponseTemplate::new(200).set_delay(MINUTE)).await;
    let got = send(&client(&server.uri()), Duration::from_millis(200)).await;
    assert!(matches!(got, Err(HsError::Unknown(_))), "{got:?}");
}

#[rstest]
#[case::html(ResponseTemplate::new(200).set_body_string("<html>welcome</html>"))]
#[case::other_json(ResponseTemplate::new(200).set_body_json(json!({"ok": true})))]
#[case::no_event_id(ResponseTemplate::new(200).set_body_json(json!({"event_id": "7"})))]
#[case::gateway(ResponseTemplate::new(502).set_body_string("<html>"))]
#[tokio::test]
async fn a_strange_answer_leaves_it_open(#[case] response: ResponseTemplate) {
    let server = answering(response).await;
    let got = send(&client(&server.uri()), MINUTE).await;
    assert!(matches!(got, Err(HsError::Unknown(_))), "{got:?}");
}

#[rstest]
#[case::milliseconds(ResponseTemplate::new(429).set_body_json(json!({"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 700})), Some(700))]
#[case::seconds(ResponseTemplate::new(429).insert_header("retry-after", "2"), Some(2000))]
#[case::html(ResponseTemplate::new(429).set_body_string("<html>"), None)]
#[tokio::test]
async fn limits(#[case] response: ResponseTemplate, #[case] retry_after_ms: Option<u64>) {
    let server = answering(response).await;
    assert_eq!(send(&client(&server.uri()), MINUTE).await, Err(HsError::Limited { retry_after_ms }));
}

#[tokio::test]
async fn a_date_is_measured_against_the_answers_own() {
    let server = answering(
        ResponseTemplate::new(429)
            .insert_header("date", "Mon, 30 Nov 2026 16:00:00 GMT")
            .insert_header("retry-after", "Mon, 30 Nov 2026 16:00:09 GMT"),
    )
    .await;
    let got = send(&client(&server.uri()), MINUTE).await;
    assert_eq!(got, Err(HsError::Limited { retry_after_ms: Some(9_000) }));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = answering(ResponseTemplate::new(307).insert_header("location", "http://127.0.0.1:1/")).await;
    assert!(matches!(send(&client(&server.uri()), MINUTE).await, Err(HsError::Refused { status: 307, .. })));
}

#[tokio::test]
async fn errors_hold_neither_token_nor_text() {
    for url in ["http://127.0.0.1:1".to_owned(), answering(ResponseTemplate::new(500)).await.uri()] {
        let error = send(&client(&url), MINUTE).await.unwrap_err();
        let told = format!("{error} {error:?}");
        assert!(!told.contains("as-secret") && !told.contains("secret words"), "{told}");
    }
}

#[rstest]
#[case(200, json!({"user_id": "@agent_a:x"}), Some(Registered::Fresh))]
#[case(400, json!({"errcode": "M_USER_IN_USE", "error": ""}), Some(Registered::Existing))]
#[case(400, json!({"errcode": "M_EXCLUSIVE", "error": ""}), None)]
#[tokio::test]
async fn registering(#[case] status: u16, #[case] body: Value, #[case] registered: Option<Registered>) {
    let server = json_answer(status, body).await;
    assert_eq!(client(&server.uri()).register("agent_a").await.ok(), registered);
    let request = &server.received_requests().await.unwrap()[0];
    let sent: Value = request.body_json().unwrap();
    let expected =
        json!({"type": "m.login.application_service", "username": "agent_a", "inhibit_login": true});
    assert_eq!((sent, request.url.query()), (expected, None));
}

#[rstest]
#[case(200, json!({}), true)]
#[case(403, json!({"errcode": "M_FORBIDDEN"}), true)]
#[case(404, json!({"errcode": "M_UNKNOWN", "error": "Not a known room"}), true)]
#[case(404, json!("<html>"), false)]
#[case(401, json!({"errcode": "M_UNKNOWN_TOKEN"}), false)]
#[case(500, json!({"errcode": "M_UNKNOWN"}), false)]
#[tokio::test]
async fn leaving_where_one_is_not_is_fine(#[case] status: u16, #[case] body: Value, #[case] fine: bool) {
    let server = json_answer(status, body).await;
    let got = client(&server.uri()).leave(user_id!("@a:x"), room_id!("!r:x"), Some("bye")).await;
    assert_eq!(got.is_ok(), fine, "{got:?}");
}

#[tokio::test]
async fn joining_by_alias_names_the_servers_to_ask() {
    let server = json_answer(200, json!({"room_id": "!found"})).await;
    let (alias, via) = (room_alias_id!("#lobby:x"), [server_name!("y").to_owned()]);
    let got = client(&server.uri()).join(user_id!("@a:x"), alias.into(), &via).await.unwrap();
    let request = &server.received_requests().await.unwrap()[0];
    assert_eq!(got, "!found");
    assert_eq!(request.url.path(), "/_matrix/client/v3/join/%23lobby%3Ax");
    assert_eq!(request.url.query(), Some("user_id=%40a%3Ax&via=y&server_name=y"));
}

#[tokio::test]
async fn what_is_not_there_is_none() {
    let server = json_answer(404, json!({"errcode": "M_NOT_FOUND", "error": ""})).await;
    let client = client(&server.uri());
    assert_eq!(client.resolve_alias(room_alias_id!("#a:x")).await, Ok(None));
    assert_eq!(client.profile(user_id!("@a:x")).await, Ok(Profile::default()));
    assert!(client.event(user_id!("@a:x"), room_id!("!r:x"), event_id!("$e")).await.unwrap().is_none());
    assert!(client.room_state(user_id!("@a:x"), room_id!("!r:x")).await.unwrap_err().is_not_found());
}

#[rstest]
#[case(json!({"errcode": "M_UNKNOWN", "error": "No row found (profiles)"}), true)]
#[case(json!("<html>"), false)]
#[tokio::test]
async fn nobodys_profile_is_empty_but_a_proxys_404_is_an_error(#[case] body: Value, #[case] empty: bool) {
    let server = json_answer(404, body).await;
    let got = client(&server.uri()).profile(user_id!("@nobody:x")).await;
    assert_eq!(got.ok(), empty.then(Profile::default));
}

#[tokio::test]
async fn pages_of_messages() {
    let server =
        json_answer(200, json!({"chunk": [{"n": 1}, 7, {"n": 2}], "end": "t2", "start": "t1"})).await;
    let client = client(&server.uri());
    let page = client.messages(user_id!("@a:x"), room_id!("!r:x"), Some("t&1"), true, 50).await.unwrap();
    let chunk: Vec<_> = page.chunk.iter().map(|raw| raw.get()).collect();
    assert_eq!((chunk, page.end.as_deref()), (vec![r#"{"n":1}"#, r#"{"n":2}"#], Some("t2")));
    let query = server.received_requests().await.unwrap()[0].url.query().map(str::to_owned);
    assert_eq!(query.as_deref(), Some("user_id=%40a%3Ax&dir=b&limit=50&from=t%261"));
}

#[tokio::test]
async fn pictures_and_profiles_are_set_as_the_user() {
    let answer = json!({"content_uri": "mxc://x/1", "avatar_url": "mxc://x/y"});
    let server = json_answer(200, answer).await;
    let (client, a) = (client(&server.uri()), user_id!("@a:x"));
    assert_eq!(client.upload(a, "image/png", "a.png", "bytes".into()).await.unwrap(), "mxc://x/1");
    client.set_avatar(a, "mxc://x/1").await.unwrap();
    client.set_profile_field(a, "org.x.field", &json!({"n": 1})).await.unwrap();
    assert_eq!(client.own_profile(a).await.unwrap().avatar_url.as_deref(), Some("mxc://x/y"));
    let requests = server.received_requests().await.unwrap();
    let told: Vec<_> = requests.iter().map(|r| (r.url.path(), String::from_utf8_lossy(&r.body))).collect();
    assert_eq!(told[0], ("/_matrix/media/v3/upload", "bytes".into()));
    assert_eq!(requests[0].headers["content-type"], "image/png");
    assert_eq!(
        told[1],
        ("/_matrix/client/v3/profile/%40a%3Ax/avatar_url", r#"{"avatar_url":"mxc://x/1"}"#.into())
    );
    assert_eq!(
        told[2],
        ("/_matrix/client/v3/profile/%40a%3Ax/org.x.field", r#"{"org.x.field":{"n":1}}"#.into())
    );
    assert!(requests.iter().all(|r| r.url.query().is_some_and(|query| query.contains("user_id=%40a%3Ax"))));
}

#[tokio::test]
async fn a_page_without_events_is_no_page() {
    let server = json_answer(200, json!({})).await;
    let got = client(&server.uri()).messages(user_id!("@a:x"), room_id!("!r:x"), None, false, 1).await;
    assert!(matches!(got, Err(HsError::Unknown(_))));
}

#[tokio::test]
async fn the_other_calls_reach_their_paths() {
    let body = json!({"versions": ["v1.16"], "unstable_features": {"a": true}, "duration_ms": 12, "user_id": "@a:x",
        "room_id": "!new", "event_id": "$e", "displayname": "Ada", "avatar_url": "mxc://x/y"});
    let server = json_answer(200, body).await;
    let (client, ada, room) = (client(&server.uri()), user_id!("@a:x"), owned_room_id!("!r:x"));
    assert_eq!(client.versions().await.unwrap().versions, ["v1.16"]);
    assert_eq!(client.ping("parlour", "t1").await, Ok(12));
    assert_eq!(client.whoami(ada).await.unwrap(), "@a:x");
    client.set_display_name(ada, "Ada #1234").await.unwrap();
    let profile = client.profile(ada).await.unwrap();
    assert_eq!(
        (profile.display_name.as_deref(), profile.avatar_url.as_deref()),
        (Some("Ada"), Some("mxc://x/y"))
    );
    assert_eq!(client.create_room(ada, CreateRoom::default()).await.unwrap(), "!new");
    assert_eq!(client.resolve_alias(room_alias_id!("#a:x")).await.unwrap().unwrap(), "!new");
    assert_eq!(client.send_state(ada, &room, "m.room.name", "", &json!({"name": "x"})).await.unwrap(), "$e");
    let called: Vec<_> = server
        .received_requests()
        .await
        .unwrap()
        .iter()
        .map(|r| format!("{} {}", r.method, r.url.path()))
        .collect();
    insta::assert_snapshot!(called.join("\n"), @"
    GET /_matrix/client/versions
    POST /_matrix/client/v1/appservice/parlour/ping
    GET /_matrix/client/v3/account/whoami
    PUT /_matrix/client/v3/profile/%40a%3Ax/displayname
    GET /_matrix/client/v3/profile/%40a%3Ax
    POST /_matrix/client/v3/createRoom
    GET /_matrix/client/v3/directory/room/%23a%3Ax
    PUT /_matrix/client/v3/rooms/%21r%3Ax/state/m.room.name/
    ");
}
