use crate::front::Front;

const PROXY: &str = "127.0.0.1:9999";

/// Joins five times, which is all that one source may, and once more.
async fn is_one_source(front: &Front, peer: &str, forwarded: impl Fn(usize) -> Option<String>) -> bool {
    for n in 0..5 {
        let joined = front.join_from(peer, forwarded(n).as_deref(), "Scout").await;
        assert_eq!(joined.status, 201, "{joined:?}");
    }
    front.join_from(peer, forwarded(5).as_deref(), "Scout").await.status == 429
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_is_a_source() {
    let front = Front::with(|_| {}, &["127.0.0.0/8"]).await;
    assert!(!is_one_source(&front, PROXY, |n| Some(format!("198.51.100.{n}"))).await);
    assert!(
        is_one_source(&front, PROXY, |n| Some(format!("192.0.2.{n}, 203.0.113.7"))).await,
        "what clients make up"
    );
}

#[tokio::test]
async fn a_stranger_cannot_pass_for_others() {
    let front = Front::start().await;
    assert!(is_one_source(&front, PROXY, |n| Some(format!("198.51.100.{n}"))).await);
}
