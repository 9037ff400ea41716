//! Calls as a device, against a stand-in homeserver.

use rstest::rstest;
use ruma::{device_id, mxc_uri, user_id};
use serde_json::{Value, json, value::to_raw_value};
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::any};

use super::*;
use crate::crypto::Call;

async fn answering(status: u16, body: Value) -> (MockServer, Client) {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(status).set_body_json(body)).mount(&server).await;
    let client = Client::new(&server.uri(), "as-secret".to_owned().into()).unwrap();
    (server, client)
}

fn ada(token: Option<&SecretString>) -> AsDevice<'_> {
    AsDevice { user: user_id!("@agent_ada:x"), device: device_id!("D"), token }
}

async fn last(server: &MockServer) -> Request {
    server.received_requests().await.unwrap().pop().unwrap()
}

#[tokio::test]
async fn without_a_token_the_device_is_named_in_both_spellings() {
    let (server, client) = answering(200, json!({})).await;
    let body = to_raw_value(&json!({"one_time_keys": {}})).unwrap();
    client.carry(ada(None), &Call::KeysUpload(body)).await.unwrap();
    let request = last(&server).await;
    assert_eq!(request.headers["authorization"], "Bearer as-secret");
    assert_eq!(
        request.url.query(),
        Some("user_id=%40agent_ada%3Ax&device_id=D&org.matrix.msc3202.device_id=D")
    );
}

#[tokio::test]
async fn a_token_of_its_own_says_it_all() {
    let (server, client) = answering(200, json!({"next_batch": "s1"})).await;
    let token = SecretString::from("own-secret".to_owned());
    assert_eq!(client.pull(ada(Some(&token)), Some("s0")).await.unwrap().next_batch, "s1");
    let request = last(&server).await;
    let bearers: Vec<_> = request.headers.get_all("authorization").iter().collect();
    assert_eq!(bearers, ["Bearer own-secret"]);
    let query = request.url.query().unwrap();
    assert!(
        !query.contains("user_id") && query.contains("since=s0") && query.contains("timeout=0"),
        "{query}"
    );
    assert!(!format!("{:?}", ada(Some(&token))).contains("secret"));
}

#[tokio::test]
async fn each_call_has_its_path_and_body() {
    let (server, client) = answering(200, json!({})).await;
    let body = || to_raw_value(&json!({"a": 1})).unwrap();
    let calls = [
        Call::KeysUpload(body()),
        Call::SigningKeysUpload(body()),
        Call::SignaturesUpload(body()),
        Call::KeysQuery([user_id!("@p:x").to_owned()].into()),
        Call::KeysClaim(body()),
        Call::ToDevice { event_type: "m.room.encrypted".into(), txn_id: "t/1".into(), body: body() },
    ];
    for call in &calls {
        client.carry(ada(None), call).await.unwrap();
    }
    client.put_device(user_id!("@a:x"), device_id!("D/1"), "Bridge").await.unwrap();
    client.delete_device(user_id!("@a:x"), device_id!("D")).await.unwrap();
    let told = |r: &Request| format!("{} {} {}", r.method, r.url.path(), String::from_utf8_lossy(&r.body));
    let all: Vec<_> = server.received_requests().await.unwrap().iter().map(told).collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
    POST /_matrix/client/v3/keys/upload {"a":1}
    POST /_matrix/client/v3/keys/device_signing/upload {"a":1}
    POST /_matrix/client/v3/keys/signatures/upload {"a":1}
    POST /_matrix/client/v3/keys/query {"device_keys":{"@p:x":[]},"timeout":10000}
    POST /_matrix/client/v3/keys/claim {"a":1}
    PUT /_matrix/client/v3/sendToDevice/m.room.encrypted/t%2F1 {"a":1}
    PUT /_matrix/client/v3/devices/D%2F1 {"display_name":"Bridge"}
    DELETE /_matrix/client/v3/devices/D {}
    "#);
}

#[tokio::test]
async fn a_pull_reads_what_is_there() {
    let body = json!({"next_batch": "s2", "to_device": {"events": [{"type": "m.x"}, 7]},
        "device_lists": {"changed": ["@p:x", 7]}, "device_one_time_keys_count": {},
        "device_unused_fallback_key_types": ["signed_curve25519"]});
    let (_server, client) = answering(200, body).await;
    let news = client.pull(ada(None), None).await.unwrap().news;
    assert_eq!((news.to_device.len(), news.changed.len()), (1, 1));
    let counts = news.counts.unwrap();
    assert_eq!((counts.one_time_keys, counts.fallback_unused), (0, Some(true)));
}

#[tokio::test]
async fn a_login_gives_a_token_that_hides() {
    let (server, client) = answering(200, json!({"device_id": "D", "access_token": "own-secret"})).await;
    let login = client.login_appservice(user_id!("@agent_ada:x"), device_id!("D"), "Bridge").await.unwrap();
    assert_eq!((login.device_id.as_str(), login.token.expose_secret()), ("D", "own-secret"));
    assert!(!format!("{login:?}").contains("own-secret"));
    let body: Value = last(&server).await.body_json().unwrap();
    assert_eq!(body["identifier"], json!({"type": "m.id.user", "user": "@agent_ada:x"}));
    assert_eq!((&body["type"], &body["device_id"]), (&json!("m.login.application_service"), &json!("D")));
}

#[rstest]
#[case(404, json!({"errcode": "M_NOT_FOUND"}), true)]
#[case(404, json!("<html>"), false)]
#[case(403, json!({"errcode": "M_FORBIDDEN"}), false)]
#[tokio::test]
async fn a_device_that_is_not_there_is_gone(#[case] status: u16, #[case] body: Value, #[case] gone: bool) {
    let (_server, client) = answering(status, body).await;
    assert_eq!(client.delete_device(user_id!("@a:x"), device_id!("D")).await.is_ok(), gone);
    assert_eq!(client.device(user_id!("@a:x"), device_id!("D")).await.ok(), gone.then_some(None));
}

#[tokio::test]
async fn a_file_is_read_up_to_its_limit() {
    let (server, client) = answering(200, json!("0123456789")).await;
    let file = |limit| client.download(ada(None), mxc_uri!("mxc://x/abc"), limit);
    assert_eq!(file(12).await.unwrap().len(), 12);
    assert!(file(11).await.unwrap_err().is_too_large());
    assert_eq!(last(&server).await.url.path(), "/_matrix/client/v1/media/download/x/abc");
    let odd = client.download(ada(None), <&ruma::MxcUri>::from("nothing"), 12).await;
    assert!(odd.unwrap_err().has_code("M_BAD_PARAM"));
}
