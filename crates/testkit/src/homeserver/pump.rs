//! Transactions to the appservice: one at a time, the same again until it is taken.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::{FakeHomeserver, HS_TOKEN};

/// At most so many events in one.
const EVENTS: usize = 100;
/// Before a transaction that failed is sent again. Real time: what a homeserver does between is its own business.
const AGAIN: Duration = Duration::from_millis(30);

pub(super) fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().no_proxy().tcp_nodelay(true).tls_certs_only([]);
    builder.timeout(Duration::from_secs(10)).build().expect("an HTTP client")
}

/// Runs as long as the test.
pub(super) async fn run(hs: FakeHomeserver) {
    let mut changes = hs.0.changes.subscribe();
    loop {
        let Some((txn_id, body)) = hs.next_transaction() else {
            let _ = changes.changed().await;
            continue;
        };
        while hs.push_transaction(&txn_id, &body).await != Some(200) {
            tokio::select! {
                () = hs.0.again.notified() => {}
                () = tokio::time::sleep(AGAIN) => {}
            }
        }
        hs.world(|w| w.in_flight = false);
    }
}

/// `POST /ping` on the appservice; the status it answers with.
pub(super) async fn call_back(hs: &FakeHomeserver, body: &Value) -> Result<u16, ()> {
    let url = format!("http://{}/_matrix/app/v1/ping", hs.look(|w| w.appservice.clone()));
    let request = hs.0.http.post(url).bearer_auth(HS_TOKEN).json(body);
    request.send().await.map(|a| a.status().as_u16()).map_err(drop)
}

impl FakeHomeserver {
    fn next_transaction(&self) -> Option<(String, Value)> {
        let mut w = self.0.world.lock();
        if w.holding || (w.outbox.is_empty() && w.ephemeral.is_empty()) {
            return None;
        }
        let count = w.outbox.len().min(EVENTS);
        let places: Vec<_> = w.outbox.drain(..count).collect();
        let events: Vec<Value> = places.iter().map(|(room, place)| w.rooms[room].event(*place)).collect();
        let mut body = json!({"events": events});
        let ephemeral = std::mem::take(&mut w.ephemeral);
        if !ephemeral.is_empty() {
            body["ephemeral"] = ephemeral.into();
        }
        w.in_flight = true;
        w.next_txn += 1;
        Some(((w.next_txn - 1).to_string(), body))
    }

    /// Brings a transaction of the test's own making; the status of the answer, `None` where there was none.
    pub async fn push_transaction(&self, txn_id: &str, body: &Value) -> Option<u16> {
        self.push_bytes(txn_id, body.to_string().into_bytes()).await
    }

    /// The same with a body that need not be JSON.
    pub async fn push_bytes(&self, txn_id: &str, body: Vec<u8>) -> Option<u16> {
        let appservice = self.look(|w| w.appservice.clone());
        let url = format!("http://{appservice}/_matrix/app/v1/transactions/{txn_id}");
        let request = self.0.http.put(url).bearer_auth(HS_TOKEN).header("content-type", "application/json");
        request.body(body).send().await.ok().map(|a| a.status().as_u16())
    }

    /// Asks the appservice whether it has a user or a room alias: `users/ID` or `rooms/ALIAS`.
    pub async fn ask(&self, about: &str) -> Option<u16> {
        let appservice = self.look(|w| w.appservice.clone());
        let url = format!("http://{appservice}/_matrix/app/v1/{about}");
        self.0.http.get(url).bearer_auth(HS_TOKEN).send().await.ok().map(|a| a.status().as_u16())
    }

    /// Brings a transaction and hangs up without waiting for the answer, as a homeserver does that dies.
    pub async fn push_and_hang_up(&self, txn_id: &str, body: &Value) {
        let (appservice, body) = (self.look(|w| w.appservice.clone()), body.to_string());
        let head = format!(
            "PUT /_matrix/app/v1/transactions/{txn_id} HTTP/1.1\r\nhost: {appservice}\r\nauthorization: Bearer {HS_TOKEN}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut connection =
            TcpStream::connect(appservice.to_string()).await.expect("the appservice listens");
        connection.write_all((head + &body).as_bytes()).await.expect("it reads");
    }

    /// Keeps transactions back. One that is under way is waited for.
    pub async fn hold_transactions(&self) {
        self.world(|w| w.holding = true);
        self.until("the transaction under way is taken", |hs| !hs.look(|w| w.in_flight)).await;
    }

    pub fn release_transactions(&self) {
        self.world(|w| w.holding = false);
    }

    /// What is kept back, to be brought by the test itself, or never.
    #[must_use]
    pub fn take_held(&self) -> Vec<Value> {
        self.world(|w| {
            let places = std::mem::take(&mut w.outbox);
            places.iter().map(|(room, place)| w.rooms[room].event(*place)).collect()
        })
    }

    /// Whether the appservice has been told of everything.
    #[must_use]
    pub fn is_delivered(&self) -> bool {
        self.look(|w| !w.in_flight && w.outbox.is_empty() && w.ephemeral.is_empty())
    }

    pub async fn until_delivered(&self) {
        self.until("the appservice has taken everything", Self::is_delivered).await;
    }
}
