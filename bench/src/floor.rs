//! The floor's own appservice: it notes when each event reaches it, and can play dead as a bridge that is down.
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::StatusCode,
    routing::{get, post, put},
    serve::ListenerExt as _,
};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, task::JoinSet, time::timeout_at};

use crate::{clock::now, marker};

/// A listener that stands in for the second appservice; it stops when it is dropped.
pub(crate) struct Floor {
    state: Arc<Seen>,
    _server: JoinSet<()>,
}

#[derive(Default)]
struct Seen {
    /// When each marker first arrived.
    at: Mutex<HashMap<String, Instant>>,
    arrived: Notify,
    down: AtomicBool,
}

#[derive(Deserialize)]
struct Transaction {
    #[serde(default)]
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    content: Value,
}

impl Floor {
    /// Listens where the floor's registration says.
    pub(crate) async fn start(url: &str) -> Result<Self> {
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("the floor cannot listen on {address}"))?;
        let listener = listener.tap_io(|socket| {
            let _ = socket.set_nodelay(true);
        });
        let state = Arc::new(Seen::default());
        let (app, mut server) = (router(state.clone()), JoinSet::new());
        server.spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { state, _server: server })
    }

    /// While down, every transaction is refused.
    pub(crate) fn set_down(&self, down: bool) {
        self.state.down.store(down, Ordering::SeqCst);
    }

    /// When the marker's event arrived, waiting for it at most so long.
    pub(crate) async fn wait_for(&self, marker: &str, within: Duration) -> Option<Instant> {
        let end = tokio::time::Instant::from_std(now() + within);
        loop {
            let arrived = self.state.arrived.notified();
            tokio::pin!(arrived);
            // before the look, so that nothing slips through between the two
            arrived.as_mut().enable();
            if let Some(at) = self.state.at.lock().get(marker) {
                return Some(*at);
            }
            timeout_at(end, arrived).await.ok()?;
        }
    }
}

fn router(state: Arc<Seen>) -> Router {
    let empty = || async { Json(json!({})) };
    Router::new()
        .route("/_matrix/app/v1/transactions/{txn_id}", put(transaction))
        .route("/_matrix/app/v1/users/{id}", get(empty))
        .route("/_matrix/app/v1/rooms/{alias}", get(empty))
        .route("/_matrix/app/v1/ping", post(empty))
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state(state)
}

async fn transaction(State(seen): State<Arc<Seen>>, body: Bytes) -> Result<Json<Value>, StatusCode> {
    let at = now();
    if seen.down.load(Ordering::SeqCst) {
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    let transaction: Transaction = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let texts = transaction.events.iter().filter_map(|e| e.content["body"].as_str());
    let mut known = seen.at.lock();
    for marker in texts.filter_map(marker::find) {
        known.entry(marker.to_owned()).or_insert(at);
    }
    drop(known);
    seen.arrived.notify_waiters();
    Ok(Json(json!({})))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(marker: &str) -> Bytes {
        Bytes::from(json!({"events": [{"content": {"body": marker}}, {"content": {}}]}).to_string())
    }

    #[tokio::test]
    async fn a_waiter_hears_of_a_marker_that_comes_later() {
        let floor = Floor { state: Arc::default(), _server: JoinSet::new() };
        let marker = marker::fresh();
        let (seen, answer) = tokio::join!(
            floor.wait_for(&marker, Duration::from_secs(5)),
            transaction(State(floor.state.clone()), body(&marker))
        );
        assert!(seen.is_some() && answer.is_ok());
    }

    #[tokio::test]
    async fn while_down_nothing_is_noted() {
        let floor = Floor { state: Arc::default(), _server: JoinSet::new() };
        floor.set_down(true);
        let marker = marker::fresh();
        assert!(transaction(State(floor.state.clone()), body(&marker)).await.is_err());
        assert!(floor.wait_for(&marker, Duration::ZERO).await.is_none());
    }
}
