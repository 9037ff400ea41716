//! The way from the homeserver elsewhere to the one at home, which can be closed. Both go on living then, and notice
//! nothing but that.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// Lets everything through from `listen` to `home` while it is open. Gone when it is dropped.
pub struct Border {
    open: watch::Sender<bool>,
    task: AbortHandle,
}

impl Border {
    pub(crate) async fn build(listen: SocketAddr, home: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let open = watch::Sender::new(true);
        let task = tokio::spawn(accept(listener, home, open.subscribe())).abort_handle();
        Ok(Self { open, task })
    }

    /// Connections that are there are cut, and none comes about.
    pub fn close(&self) {
        self.open.send_replace(false);
    }

    pub fn open(&self) {
        self.open.send_replace(true);
    }
}

impl Drop for Border {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, home: SocketAddr, open: watch::Receiver<bool>) {
    while let Ok((traveller, _)) = listener.accept().await {
        tokio::spawn(pass(traveller, home, open.clone()));
    }
}

async fn pass(mut traveller: TcpStream, home: SocketAddr, mut open: watch::Receiver<bool>) {
    if *open.borrow()
        && let Ok(mut inside) = TcpStream::connect(home).await
    {
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut traveller, &mut inside) => {}
            _ = open.wait_for(|open| !open) => {}
        }
    }
}
