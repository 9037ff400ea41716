//! Answers as event streams.

use std::{convert::Infallible, time::Duration};

use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::Instant};

use super::{
    super::stream::streamed,
    support::{call, message, post},
};
use crate::{
    double::App,
    tests::support::{Ask, response},
};

async fn read(ask: Ask) -> (u16, String, String) {
    let (parts, body) = response(App::open(), ask.with("accept", "text/event-stream")).await.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let kind = parts.headers.get("content-type").map(|v| v.to_str().unwrap().to_owned()).unwrap_or_default();
    (parts.status.as_u16(), kind, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn one_message_event_and_nothing_else() {
    for ask in
        [message("tools/list", &json!({})), call("get_self", &json!({})), message("no/such", &json!({}))]
    {
        let (status, kind, text) = read(ask).await;
        assert_eq!((status, kind.as_str()), (200, "text/event-stream"));
        let data = text.strip_prefix("event: message\ndata: ").unwrap().strip_suffix("\n\n").unwrap();
        assert!(!data.contains('\n'));
        assert_eq!(serde_json::from_str::<Value>(data).unwrap()["id"], 1);
    }
}

#[tokio::test]
async fn what_is_refused_at_once_keeps_its_status() {
    let (status, kind, text) = read(post("{")).await;
    assert_eq!((status, kind.as_str()), (400, "application/json"));
    assert!(text.contains("-32700"), "{text}");
    let (status, kind, _) = read(message("ping", &json!({})).with("mcp-protocol-version", "x")).await;
    assert_eq!((status, kind.as_str()), (400, "application/json"));
    assert_eq!(read(post(r#"{"jsonrpc":"2.0","method":"x"}"#)).await.0, 202);
}

/// Work that is done when it is told to, and tells when it is dropped.
struct Work {
    finish: oneshot::Sender<Response>,
    dropped: oneshot::Receiver<Infallible>,
    begun: Response,
}

impl Work {
    async fn begin() -> Self {
        let (finish, done) = oneshot::channel::<Response>();
        let (held, dropped) = oneshot::channel::<Infallible>();
        let begun = streamed(Box::pin(async move {
            let _held = held;
            done.await.unwrap()
        }));
        Self { begun: begun.await, finish, dropped }
    }
}

#[tokio::test(start_paused = true)]
async fn comments_keep_a_long_wait_alive() {
    let began = Instant::now();
    let Work { begun, finish, .. } = Work::begin().await;
    assert_eq!(
        (begun.status(), &begun.headers()["x-accel-buffering"]),
        (StatusCode::OK, &"no".parse().unwrap())
    );
    let mut body = begun.into_body().into_data_stream();
    let mut last = began;
    for _ in 0..4 {
        assert_eq!(body.next().await.unwrap().unwrap(), ": waiting\n\n");
        assert!(last.elapsed() <= Duration::from_secs(15), "{:?}", last.elapsed());
        last = Instant::now();
    }
    assert!(began.elapsed() >= Duration::from_secs(30));
    finish.send("{}".into_response()).unwrap();
    assert_eq!(body.next().await.unwrap().unwrap(), "event: message\ndata: {}\n\n");
    assert!(body.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_ends_the_work() {
    let Work { begun, dropped, finish } = Work::begin().await;
    let mut body = begun.into_body().into_data_stream();
    assert_eq!(body.next().await.unwrap().unwrap(), ": waiting\n\n");
    assert!(!finish.is_closed());
    drop(body);
    assert!(dropped.await.is_err() && finish.is_closed());
}
