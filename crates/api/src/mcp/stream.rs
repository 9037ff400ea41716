//! An answer as an event stream, for clients that take nothing else: comment lines while there is nothing to say, then
//! one `message` event.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, to_bytes},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{
    future::BoxFuture,
    stream::{self, Stream},
};
use http::{HeaderName, HeaderValue, StatusCode, header};

/// Refusals with a status of their own come sooner than this, before the stream's 200 is sent.
const OPENING: Duration = Duration::from_secs(1);

/// Between two comment lines. Common proxies give up on a silent connection after 30 to 60 s; the contract says 15.
const BEAT: Duration = Duration::from_secs(10);

const COMMENT: Bytes = Bytes::from_static(b": waiting\n\n");

/// Proxies hold an answer back until it is whole unless they are told not to (nginx).
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Whoever drops the answer's body drops the work with it.
pub(super) async fn streamed(mut work: BoxFuture<'static, Response>) -> Response {
    match tokio::time::timeout(OPENING, &mut work).await {
        Ok(done) if done.status() != StatusCode::OK => done,
        Ok(done) => open(Body::from(event(done).await)),
        Err(_) => open(Body::from_stream(beating(work))),
    }
}

fn open(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        UNBUFFERED,
    ];
    (headers, body).into_response()
}

fn beating(work: BoxFuture<'static, Response>) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold((Some(work), Duration::ZERO), |(work, beat)| async move {
        let mut work = work?;
        match tokio::time::timeout(beat, &mut work).await {
            Ok(done) => Some((Ok(event(done).await), (None, BEAT))),
            Err(_) => Some((Ok(COMMENT), (Some(work), BEAT))),
        }
    })
}

/// JSON without a line break is one line of data.
async fn event(done: Response) -> Bytes {
    let body = to_bytes(done.into_body(), usize::MAX).await.unwrap_or_default();
    [b"event: message\ndata: ", body.as_ref(), b"\n\n"].concat().into()
}
