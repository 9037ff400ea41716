//! Takes in a request body: no more than its limit, and no longer than its time.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::{HeaderMap, header};
use parlour_domain::fault::{Code, Fault};

/// For the whole body, so that a client that drips bytes does not hold a connection for ever.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// How many bytes beyond the limit are read and thrown away. A client (or the proxy before us) that is cut off while it
/// still writes sees a broken connection instead of our answer.
pub(crate) const SPILL: usize = 1024 * 1024;

/// The body, if it has at most `limit` bytes. Only those are ever held in memory.
///
/// # Errors
/// `invalid_request`: too large, too slow, or cut short.
pub(crate) async fn take(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, Fault> {
    if is_hopeless(headers, &body, limit) {
        return Err(too_large(limit));
    }
    tokio::time::timeout(DEADLINE, collect(body, limit)).await.unwrap_or_else(|_| Err(too_slow()))
}

/// Says itself that it is too large, and nothing is gained by reading it: there is too much of it, or the client waits
/// for our word before it sends any.
fn is_hopeless(headers: &HeaderMap, body: &Body, limit: usize) -> bool {
    let length = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let asks_first = headers.contains_key(header::EXPECT);
    length > limit.saturating_add(SPILL) || (asks_first && length > limit)
}

async fn collect(body: Body, limit: usize) -> Result<Bytes, Fault> {
    let mut chunks = body.into_data_stream();
    let (mut kept, mut seen) = (BytesMut::new(), 0_usize);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| cut_short())?;
        seen = seen.saturating_add(chunk.len());
        match seen {
            _ if seen <= limit => kept.extend_from_slice(&chunk),
            _ if seen <= limit.saturating_add(SPILL) => kept = BytesMut::new(),
            _ => break,
        }
    }
    if seen > limit { Err(too_large(limit)) } else { Ok(kept.freeze()) }
}

fn too_large(limit: usize) -> Fault {
    let message = format!("The body is too large. Send at most {limit} bytes.");
    Fault::new(Code::InvalidRequest, message).detail("maxBytes", limit)
}

fn too_slow() -> Fault {
    let message =
        format!("The body did not arrive within {} seconds. Send it in one go.", DEADLINE.as_secs());
    Fault::new(Code::InvalidRequest, message)
}

fn cut_short() -> Fault {
    Fault::new(Code::InvalidRequest, "The body ended before its announced length. Send it again, whole.")
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    const LIMIT: usize = 1000;

    fn chunks(count: usize, size: usize) -> Body {
        let chunk = Bytes::from(vec![b'x'; size]);
        Body::from_stream(stream::iter((0..count).map(move |_| Ok::<_, std::io::Error>(chunk.clone()))))
    }

    async fn taken(body: Body) -> Result<usize, String> {
        take(&HeaderMap::new(), body, LIMIT).await.map(|b| b.len()).map_err(|f| f.message)
    }

    #[tokio::test]
    async fn the_limit_is_exact() {
        assert_eq!(taken(Body::from(vec![0; LIMIT])).await, Ok(LIMIT));
        assert_eq!(taken(chunks(10, 100)).await, Ok(LIMIT));
        assert_eq!(taken(Body::empty()).await, Ok(0));
        let too_large = Err("The body is too large. Send at most 1000 bytes.".to_owned());
        assert_eq!(taken(Body::from(vec![0; LIMIT + 1])).await, too_large);
        assert_eq!(taken(chunks(11, 100)).await, too_large);
    }

    #[tokio::test]
    async fn an_endless_body_is_given_up() {
        let chunk = Bytes::from(vec![b'x'; 4096]);
        let endless = stream::repeat_with(move || Ok::<_, std::io::Error>(chunk.clone()));
        assert!(taken(Body::from_stream(endless)).await.unwrap_err().contains("too large"));
    }

    #[tokio::test]
    async fn nothing_is_read_from_who_asks_first() {
        let mut headers = HeaderMap::new();
        headers.insert(header::EXPECT, "100-continue".parse().unwrap());
        let body = Body::from(vec![0; LIMIT + 1]);
        assert!(take(&headers, body, LIMIT).await.unwrap_err().message.contains("too large"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_given_up_in_time() {
        let began = tokio::time::Instant::now();
        let dripping = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b"x")), ()))
        });
        assert!(taken(Body::from_stream(dripping)).await.unwrap_err().contains("within 30 seconds"));
        assert_eq!(began.elapsed(), DEADLINE);
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_told_so() {
        let broken = stream::iter([Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("gone"))]);
        assert!(taken(Body::from_stream(broken)).await.unwrap_err().contains("announced length"));
    }
}
