//! The listening side of the operator's socket.

use axum::Router;
use parlour_app::runtime::Tasks;
use tokio::net::UnixListener;

use crate::server::{answer_stream, pause};

/// Serves until shutdown begins. Connections there are end once their request is answered.
pub async fn serve_operator(listener: UnixListener, router: Router, tasks: Tasks) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = tasks.stopped() => return,
        };
        match accepted {
            Ok((stream, _)) => drop(tasks.spawn(answer_stream(stream, None, router.clone(), tasks.clone()))),
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection of an operator's command");
                pause(&tasks).await;
            }
        }
    }
}
