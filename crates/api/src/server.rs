//! The listening side: connections, their time limits, and their end at shutdown.

use std::{convert::Infallible, io, net::SocketAddr, time::Duration};

use axum::{Router, body::Body, extract::ConnectInfo, response::Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use parlour_app::runtime::Tasks;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tower::Service;

use crate::{correlation, unreadable::Explained};

/// For a request's head, and between two requests of one connection. Longer than the minute for which common proxies
/// keep an idle connection: one that we close while they send on it becomes a 502 for somebody (2026-11).
const HEAD_TIME: Duration = Duration::from_secs(75);

/// What a request still has once shutdown has begun; the process has ten seconds in all.
const LAST_TIME: Duration = Duration::from_secs(8);

/// How long no connection is accepted after the process ran out of file descriptors.
const PAUSE: Duration = Duration::from_secs(1);

/// Serves until shutdown begins, then takes no more connections. Those there are end once their request is answered;
/// [`Tasks::ended`] waits for them.
pub async fn serve(listener: TcpListener, router: Router, tasks: Tasks) {
    let mut starved = false;
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = tasks.stopped() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                starved = false;
                tasks.spawn(answer_stream(stream, Some(peer), router.clone(), tasks.clone()));
            }
            Err(error) if is_passing(&error) => {}
            Err(error) => {
                if !std::mem::replace(&mut starved, true) {
                    tracing::error!(%error, "cannot accept connections; raise the limit on open files (ulimit -n)");
                }
                pause(&tasks).await;
            }
        }
    }
}

/// With TCP_NODELAY: without it an answer in two writes waits 40 ms for the client's acknowledgement of the first.
async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, peer) = listener.accept().await?;
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    Ok((stream, peer))
}

/// The client went away before we got to it.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

pub(crate) async fn pause(tasks: &Tasks) {
    tokio::select! {
        () = tokio::time::sleep(PAUSE) => {}
        () = tasks.stopped() => {}
    }
}

/// Answers what comes over one connection, of whatever kind.
pub(crate) async fn answer_stream<S>(stream: S, peer: Option<SocketAddr>, router: Router, tasks: Tasks)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let explained = Explained::new(stream, correlation::Source::system());
    let service = service_fn(move |request| answer(router.clone(), peer, request));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let connection = http.serve_connection(TokioIo::new(explained), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = tasks.stopped() => None,
    };
    let ended = match ended {
        Some(ended) => Ok(ended),
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(LAST_TIME, connection).await
        }
    };
    if let Ok(Err(error)) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

async fn answer(
    mut router: Router,
    peer: Option<SocketAddr>,
    mut request: http::Request<Incoming>,
) -> Result<Response, Infallible> {
    if let Some(peer) = peer {
        request.extensions_mut().insert(ConnectInfo(peer));
    }
    router.call(request.map(Body::new)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_accepted_sends_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        assert!(accept(&listener).await.unwrap().0.nodelay().unwrap());
    }
}
