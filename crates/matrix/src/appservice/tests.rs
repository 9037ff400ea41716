//! The endpoint as a homeserver sees it.

use std::sync::Mutex;

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use rstest::rstest;
use serde_json::Value;
use tower::ServiceExt;

use super::*;

#[derive(Default)]
struct Desk {
    taken: Mutex<Vec<(String, usize)>>,
    pings: Mutex<Vec<Option<String>>>,
    fails: Option<TransactionError>,
}

impl Inbound for Desk {
    fn transaction(&self, txn_id: String, body: Bytes) -> BoxFuture<'_, Result<(), TransactionError>> {
        Box::pin(async move {
            if let Some(error) = self.fails {
                return Err(error);
            }
            self.taken.lock().unwrap().push((txn_id, body.len()));
            Ok(())
        })
    }

    fn pinged(&self, txn_id: Option<String>) {
        self.pings.lock().unwrap().push(txn_id);
    }

    fn knows_user(&self, user: &UserId) -> bool {
        user == "@agent_a:x"
    }

    fn knows_alias(&self, alias: &RoomAliasId) -> bool {
        alias == "#lobby:x"
    }
}

const TOKEN: &str = "hs/secret+1";

async fn ask(desk: &Arc<Desk>, request: Request<Body>) -> (StatusCode, HeaderMap, Value) {
    let router = router(desk.clone(), TOKEN.to_owned().into());
    let (head, body) = router.oneshot(request).await.unwrap().into_parts();
    let bytes = axum::body::to_bytes(body, MAX_BODY).await.unwrap();
    (head.status, head.headers, serde_json::from_slice(&bytes).unwrap())
}

fn request(method: &str, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path).header("authorization", format!("Bearer {TOKEN}"))
}

#[rstest]
#[case("/_matrix/app/v1/transactions/7%2F8")]
#[case("/transactions/7%2F8")]
#[tokio::test]
async fn a_transaction_is_handed_on_and_answered_with_its_length(#[case] path: &str) {
    let desk = Arc::new(Desk::default());
    let (status, headers, body) = ask(&desk, request("PUT", path).body("{}".into()).unwrap()).await;
    assert_eq!((status, body), (StatusCode::OK, serde_json::json!({})));
    assert_eq!(headers["content-length"], "2");
    assert_eq!(*desk.taken.lock().unwrap(), [("7/8".to_owned(), 2)]);
}

#[rstest]
#[case(TransactionError::NotJson, 400, "M_NOT_JSON")]
#[case(TransactionError::Unavailable, 503, "M_UNKNOWN")]
#[tokio::test]
async fn what_could_not_be_kept_is_no_200(
    #[case] error: TransactionError,
    #[case] status: u16,
    #[case] code: &str,
) {
    let desk = Arc::new(Desk { fails: Some(error), ..Desk::default() });
    let (got, _, body) = ask(&desk, request("PUT", "/transactions/1").body("[]".into()).unwrap()).await;
    assert_eq!((got.as_u16(), &body["errcode"]), (status, &code.into()));
}

#[rstest]
#[case::none(None, "", 401, "M_UNAUTHORIZED")]
#[case::wrong(Some("Bearer hs/secret+2"), "", 403, "M_FORBIDDEN")]
#[case::a_beginning_of_it(Some("Bearer hs/secret"), "", 403, "M_FORBIDDEN")]
#[case::empty(Some("Bearer "), "", 403, "M_FORBIDDEN")]
#[case::another_scheme(Some("Basic hs/secret+1"), "", 403, "M_FORBIDDEN")]
#[case::wrong_in_the_query(None, "?access_token=nope", 403, "M_FORBIDDEN")]
#[case::wrong_header_right_query(Some("Bearer nope"), "?access_token=hs%2Fsecret%2B1", 403, "M_FORBIDDEN")]
#[tokio::test]
async fn without_the_token_nothing_is_taken(
    #[case] header: Option<&str>,
    #[case] query: &str,
    #[case] status: u16,
    #[case] code: &str,
) {
    let desk = Arc::new(Desk::default());
    for (method, path) in [
        ("PUT", "/_matrix/app/v1/transactions/1"),
        ("GET", "/_matrix/app/v1/users/@agent_a:x"),
        ("GET", "/rooms/%23lobby:x"),
        ("POST", "/_matrix/app/v1/ping"),
    ] {
        let mut request = Request::builder().method(method).uri(format!("{path}{query}"));
        if let Some(value) = header {
            request = request.header("authorization", value);
        }
        let (got, _, body) = ask(&desk, request.body("{}".into()).unwrap()).await;
        assert_eq!((got.as_u16(), &body["errcode"]), (status, &code.into()), "{method} {path}");
    }
    assert!(desk.taken.lock().unwrap().is_empty() && desk.pings.lock().unwrap().is_empty());
}

#[rstest]
#[case(Some("bearer hs/secret+1"), "")]
#[case(None, "?a=b&access_token=hs%2Fsecret%2B1")]
#[case(Some("Bearer hs/secret+1"), "?access_token=old")]
#[tokio::test]
async fn the_token_comes_by_header_or_query(#[case] header: Option<&str>, #[case] query: &str) {
    let desk = Arc::new(Desk::default());
    let mut request = Request::builder().method("PUT").uri(format!("/transactions/1{query}"));
    if let Some(value) = header {
        request = request.header("authorization", value);
    }
    assert_eq!(ask(&desk, request.body("{}".into()).unwrap()).await.0, StatusCode::OK);
}

#[rstest]
#[case("/_matrix/app/v1/users/%40agent_a%3Ax", 200)]
#[case("/users/@agent_a:x", 200)]
#[case("/_matrix/app/v1/users/@agent_b:x", 404)]
#[case("/_matrix/app/v1/users/nobody", 404)]
#[case("/_matrix/app/v1/users/%ff", 404)]
#[case("/_matrix/app/v1/rooms/%23lobby%3Ax", 200)]
#[case("/rooms/%23lobby:x", 200)]
#[case("/rooms/%23other:x", 404)]
#[tokio::test]
async fn who_and_what_we_know(#[case] path: &str, #[case] status: u16) {
    let (got, _, body) = ask(&Arc::default(), request("GET", path).body(Body::empty()).unwrap()).await;
    assert_eq!(got.as_u16(), status);
    assert_eq!(body.get("errcode"), (status == 404).then(|| Value::from("M_NOT_FOUND")).as_ref());
}

#[rstest]
#[case(r#"{"transaction_id":"t1"}"#, Some("t1"))]
#[case("{}", None)]
#[case("", None)]
#[tokio::test]
async fn a_ping_is_told(#[case] body: &'static str, #[case] txn: Option<&str>) {
    let desk = Arc::new(Desk::default());
    let (status, _, _) = ask(&desk, request("POST", "/_matrix/app/v1/ping").body(body.into()).unwrap()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(*desk.pings.lock().unwrap(), [txn.map(str::to_owned)]);
}

#[rstest]
#[case("GET", "/_matrix/app/v1/transactions/1", 405, Some("PUT"))]
#[case("POST", "/transactions/1", 405, Some("PUT"))]
#[case("DELETE", "/_matrix/app/v1/users/@a:x", 405, Some("GET,HEAD"))]
#[case("GET", "/_matrix/app/v1/ping", 405, Some("POST"))]
#[case("GET", "/_matrix/app/v1/thirdparty/protocol/x", 404, None)]
#[case("GET", "/_matrix/client/versions", 404, None)]
#[case("GET", "/_matrix", 404, None)]
#[case("GET", "/_matrix/", 404, None)]
#[tokio::test]
async fn other_paths_and_verbs_are_unrecognized(
    #[case] method: &str,
    #[case] path: &str,
    #[case] status: u16,
    #[case] allow: Option<&str>,
) {
    let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
    let (got, headers, body) = ask(&Arc::default(), request).await;
    assert_eq!((got.as_u16(), &body["errcode"]), (status, &"M_UNRECOGNIZED".into()));
    assert_eq!(headers.get("allow").map(|v| v.to_str().unwrap()), allow);
}

#[rstest]
#[case(MAX_BODY, StatusCode::OK)]
#[case(MAX_BODY + 1, StatusCode::PAYLOAD_TOO_LARGE)]
#[tokio::test]
async fn sixty_four_mebibytes_and_no_more(#[case] size: usize, #[case] status: StatusCode) {
    let desk = Arc::new(Desk::default());
    let body = Body::from(vec![b' '; size]);
    let (got, _, body) = ask(&desk, request("PUT", "/transactions/1").body(body).unwrap()).await;
    assert_eq!(got, status);
    if status != StatusCode::OK {
        assert_eq!(body["errcode"], "M_TOO_LARGE");
    }
    assert_eq!(desk.taken.lock().unwrap().len(), usize::from(status == StatusCode::OK));
}
