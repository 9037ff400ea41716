//! Sockets: taken, cut, refused.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use axum::body::{Body, to_bytes};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    FakeHomeserver, Mishap, When,
    mishap::End,
    request::{Answer, Request, refusal},
};

pub(super) struct Socket {
    pub(super) address: SocketAddr,
    /// Ends the listener and all connections.
    pub(super) stop: CancellationToken,
    pub(super) listening: Option<JoinHandle<()>>,
}

impl Socket {
    pub(super) fn new() -> Self {
        Self { address: unused_address(), stop: CancellationToken::new(), listening: None }
    }

    pub(super) fn close(&mut self) -> Option<JoinHandle<()>> {
        self.stop.cancel();
        self.stop = CancellationToken::new();
        self.listening.take()
    }
}

/// A port that nobody else will take, also while nobody listens there: outside the range from which the system gives
/// ports to connections and to those who ask for any.
pub(crate) fn unused_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut tries = std::iter::repeat_with(|| {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        // processes next to each other get ports far from each other
        let port =
            10_000 + (std::process::id().wrapping_mul(2_654_435_761).wrapping_add(n * 8) >> 3) % 20_000;
        SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).expect("below 30,000")))
    });
    tries.find(|a| std::net::TcpListener::bind(a).is_ok()).expect("a port")
}

/// The listener before is closed by its task, a moment after it was told to.
pub(crate) async fn bind_again(address: SocketAddr) -> TcpListener {
    crate::eventually("the port is free again", || async { TcpListener::bind(address).await.ok() }).await
}

pub(super) async fn serve(hs: FakeHomeserver, listener: TcpListener, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => drop(tokio::spawn(connection(hs.clone(), stream, stop.clone()))),
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

async fn connection(hs: FakeHomeserver, stream: TcpStream, stop: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let hs = hs.clone();
        async move { hs.take(request).await.ok_or(Cut) }
    });
    // one request each: a connection kept for the next one would make going down a matter of luck
    let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // an error is how a connection is cut
        _ = connection => {}
        () = stop.cancelled() => {}
    }
}

/// Makes hyper drop the connection.
#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut on purpose")
    }
}

impl std::error::Error for Cut {}

impl FakeHomeserver {
    /// `None`: no answer, the connection ends.
    async fn take(&self, request: http::Request<Incoming>) -> Option<Answer> {
        let (parts, body) = request.into_parts();
        let body = to_bytes(Body::new(body), usize::MAX).await.ok()?;
        let Some(request) = Request::read(&parts, &body) else {
            return Some(refusal(404, "M_UNRECOGNIZED", "no such call here"));
        };
        let _inside = self.enter(&request);
        let mishap = self.world(|w| {
            *w.calls.entry(request.call).or_default() += 1;
            w.mishap(request.call)
        });
        match mishap {
            None => Some(self.answer(&request).await),
            Some(mishap) => self.go_wrong(&request, mishap).await,
        }
    }

    async fn go_wrong(&self, request: &Request, mishap: Mishap) -> Option<Answer> {
        let done = match mishap.when() {
            When::After => Some(self.answer(request).await),
            When::Before => None,
        };
        match mishap {
            Mishap::Answer { status, headers, body, .. } => Some(Mishap::answer(status, headers, body)),
            Mishap::Cut(_) => None,
            Mishap::Slow(took) => {
                tokio::time::sleep(took).await;
                Some(self.answer(request).await)
            }
            Mishap::Hold(_, held) => match (held.hold().await, done) {
                (End::Cut, _) => None,
                (End::GoOn, Some(done)) => Some(done),
                (End::GoOn, None) => Some(self.answer(request).await),
            },
        }
    }
}
