//! A TCP proxy between bridge and homeserver that loses what a real network loses now and then, and can be a homeserver
//! that offers less.

use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// What happens to sends of messages, encrypted or not, and to `POST .../createRoom`. Everything else passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// They pass.
    None,
    /// The homeserver gets the request; the answer is dropped and the connection cut.
    LoseAnswer,
    /// The homeserver gets the request; the answer stays here until the fault changes, then the connection is cut.
    HoldAnswer,
    /// The connection is cut before the homeserver gets anything.
    LoseRequest,
}

/// Listens on 127.0.0.1 until it is dropped.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    task: AbortHandle,
}

struct Shared {
    upstream: u16,
    /// Whether devices of puppets are refused.
    no_devices: bool,
    fault: watch::Sender<Fault>,
    caught: watch::Sender<usize>,
}

impl Proxy {
    pub(crate) async fn start(upstream: u16, no_devices: bool) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            upstream,
            no_devices,
            fault: watch::Sender::new(Fault::None),
            caught: watch::Sender::new(0),
        });
        let task = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        Ok(Self { port, shared, task })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// From now on; also ends what [`Fault::HoldAnswer`] holds. The count of [`caught`](Self::caught) begins anew.
    pub fn set(&self, fault: Fault) {
        self.shared.caught.send_replace(0);
        self.shared.fault.send_replace(fault);
    }

    /// Waits until the fault has struck this often since it was set.
    ///
    /// # Errors
    /// It does not within a minute.
    pub async fn caught(&self, times: usize) -> Result<()> {
        let mut caught = self.shared.caught.subscribe();
        let struck = caught.wait_for(|count| *count >= times);
        let struck = tokio::time::timeout(std::time::Duration::from_secs(60), struck).await;
        struck.context("no send came by")?.map(drop).context("the proxy is gone")
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        let shared = shared.clone();
        tokio::spawn(async move {
            // Whichever side ends it, the other one sees its connection closed, as in a real network.
            let _ = relay(client, &shared).await;
        });
    }
}

async fn relay(mut client: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", shared.upstream)).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut up, mut down) = (vec![0; 65_536], vec![0; 65_536]);
    let mut sending = false;
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let chunk = &up[..read?];
                if chunk.is_empty() { return Ok(()) }
                if shared.no_devices && let Some(answer) = without_devices(chunk) {
                    return refuse(client, answer).await;
                }
                sending = is_send(chunk).unwrap_or(sending);
                if sending && *shared.fault.borrow() == Fault::LoseRequest {
                    shared.caught.send_modify(|count| *count += 1);
                    return Ok(());
                }
                server.write_all(chunk).await?;
            }
            read = server.read(&mut down) => {
                let chunk = &down[..read?];
                if chunk.is_empty() { return Ok(()) }
                if sending && strikes(shared).await { return Ok(()) }
                client.write_all(chunk).await?;
            }
        }
    }
}

/// What a homeserver says that lets an appservice neither make nor name a puppet's device (Conduit 0.11).
fn without_devices(chunk: &[u8]) -> Option<&'static str> {
    let line = chunk.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let has = |part: &str| line.contains(part);
    match () {
        () if line.starts_with("PUT ") && has("/devices/") => Some("404 Not Found"),
        () if line.starts_with("GET ") && has("/sync?") && has("user_id=") => {
            Some("500 Internal Server Error")
        }
        // A message is taken, whatever device is named; keys would be somebody else's.
        () if has("/keys/") && has("device_id=") => Some("400 Bad Request"),
        () => None,
    }
}

/// Answers, and reads the rest of the request, since a close with something unread would take the answer back.
async fn refuse(mut client: TcpStream, status: &str) -> std::io::Result<()> {
    let body = r#"{"errcode":"M_UNRECOGNIZED","error":"no such thing here"}"#;
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n");
    let answer = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await?;
    tokio::io::copy(&mut client, &mut tokio::io::sink()).await.map(drop)
}

/// Whether an answer is lost; returns once it is.
async fn strikes(shared: &Shared) -> bool {
    let fault = *shared.fault.borrow();
    match fault {
        Fault::None | Fault::LoseRequest => false,
        Fault::LoseAnswer => {
            shared.caught.send_modify(|count| *count += 1);
            true
        }
        Fault::HoldAnswer => {
            shared.caught.send_modify(|count| *count += 1);
            let mut changed = shared.fault.subscribe();
            // Fails only when the proxy is gone, and then the connection goes too.
            let _ = changed.wait_for(|fault| *fault != Fault::HoldAnswer).await;
            true
        }
    }
}

/// Whether a request that begins here is a send or makes a room; `None` where none begins. The bridge's client does not pipeline, so a
/// request begins with a chunk of its own.
fn is_send(chunk: &[u8]) -> Option<bool> {
    let begins = [&b"GET "[..], b"PUT ", b"POST ", b"DELETE "].iter().any(|verb| chunk.starts_with(verb));
    let line = chunk.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let message =
        || ["/send/m.room.message/", "/send/m.room.encrypted/"].iter().any(|part| line.contains(part));
    let send = line.starts_with("PUT ") && message();
    begins.then(|| send || line.starts_with("POST ") && line.contains("/createRoom"))
}
