//! What can go wrong with a call.

use std::{sync::Arc, time::Duration};

use http::Response;
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::watch;

use super::{Call, FakeHomeserver, request::Answer};
use crate::within;

/// Whether what was asked for has happened by the time that something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Nothing has happened, nor will it.
    Before,
    /// It has happened; only the answer suffers.
    After,
}

#[derive(Clone)]
pub enum Mishap {
    /// Something else than the true answer.
    Answer { when: When, status: u16, headers: Vec<(String, String)>, body: String },
    /// The connection ends without an answer.
    Cut(When),
    /// It takes so long. Real time.
    Slow(Duration),
    /// Nothing, until the test says what.
    Hold(When, Held),
}

impl Mishap {
    /// Refused with a Matrix error.
    #[must_use]
    pub fn refuse(status: u16, errcode: &str) -> Self {
        let body = json!({"errcode": errcode, "error": "because the test says so"}).to_string();
        Self::Answer { when: When::Before, status, headers: vec![], body }
    }

    /// A 429 with what the test likes in head and body.
    #[must_use]
    pub fn limit(headers: &[(&str, &str)], body: &str) -> Self {
        let headers = headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Self::Answer { when: When::Before, status: 429, headers, body: body.to_owned() }
    }

    /// A proxy before the homeserver speaks for it.
    #[must_use]
    pub fn bad_gateway(when: When) -> Self {
        Self::Answer { when, status: 502, headers: vec![], body: "<html>bad gateway</html>".to_owned() }
    }

    /// The same with an answer that looks final, and is not the homeserver's.
    #[must_use]
    pub fn of_proxy(status: u16) -> Self {
        let body = "<html>the proxy's own words</html>".to_owned();
        Self::Answer { when: When::Before, status, headers: vec![], body }
    }

    pub(super) fn when(&self) -> When {
        match self {
            Self::Answer { when, .. } | Self::Cut(when) | Self::Hold(when, _) => *when,
            Self::Slow(_) => When::Before,
        }
    }

    pub(super) fn answer(status: u16, headers: Vec<(String, String)>, body: String) -> Answer {
        let mut answer = Response::builder().status(status);
        for (name, value) in headers {
            answer = answer.header(name, value);
        }
        answer.body(axum::body::Body::from(body)).expect("an answer")
    }
}

/// A call that is being held. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Held {
    arrived: Arc<watch::Sender<bool>>,
    end: Arc<watch::Sender<Option<End>>>,
    call: Arc<Mutex<Call>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    GoOn,
    Cut,
}

impl Held {
    fn new(call: Call) -> Self {
        Self {
            arrived: Arc::new(watch::Sender::new(false)),
            end: Arc::new(watch::Sender::new(None)),
            call: Arc::new(Mutex::new(call)),
        }
    }

    /// Waits until the call is there; with [`When::After`], until it has happened.
    pub async fn arrived(&self) {
        let mut arrived = self.arrived.subscribe();
        let what = format!("a call of {:?} arrives", self.call.lock());
        let _ = within(&what, arrived.wait_for(|a| *a)).await;
    }

    /// Lets it go on as if nothing had been.
    pub fn release(&self) {
        self.end.send_replace(Some(End::GoOn));
    }

    /// Ends its connection.
    pub fn cut(&self) {
        self.end.send_replace(Some(End::Cut));
    }

    pub(super) async fn hold(&self) -> End {
        self.arrived.send_replace(true);
        let mut end = self.end.subscribe();
        let end = end.wait_for(Option::is_some).await.ok().and_then(|e| *e);
        end.unwrap_or(End::Cut)
    }
}

impl FakeHomeserver {
    /// The next call of this kind meets with this. Several are met one after the other.
    pub fn next(&self, call: Call, mishap: Mishap) {
        self.world(|w| w.mishaps.entry(call).or_default().push_back(mishap));
    }

    /// Every call of this kind meets with this, until [`FakeHomeserver::recover`].
    pub fn always(&self, call: Call, mishap: Mishap) {
        self.world(|w| w.standing.insert(call, mishap));
    }

    pub fn recover(&self, call: Call) {
        self.world(|w| {
            w.standing.remove(&call);
            w.mishaps.remove(&call);
        });
    }

    /// Holds the next call of this kind.
    #[must_use]
    pub fn hold(&self, call: Call, when: When) -> Held {
        let held = Held::new(call);
        self.next(call, Mishap::Hold(when, held.clone()));
        held
    }
}
