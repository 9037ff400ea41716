//! What hyper refuses by itself (no HTTP, a head or an address that is too large) never reaches a route: it answers with a bare
//! status line and hangs up. Here, between hyper and the socket, that answer gets the body that every error has.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use parlour_domain::fault::{Code, Fault};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{correlation, error::Envelope};

/// A connection's two directions, for hyper.
pub(crate) struct Explained<S> {
    inner: S,
    ids: correlation::Source,
    /// Written by us instead of by hyper, which believes it is out.
    waiting: Vec<u8>,
}

impl<S: AsyncWrite + Unpin> Explained<S> {
    pub(crate) fn new(inner: S, ids: correlation::Source) -> Self {
        Self { inner, ids, waiting: Vec::new() }
    }

    fn poll_waiting(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            let written = ready!(Pin::new(&mut self.inner).poll_write(context, &self.waiting))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.waiting.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    /// The answer that hyper would give stands at the end of what it writes; before it may be answers of ours.
    fn explain(&mut self, bytes: &[u8]) -> Option<usize> {
        let at = bare_refusal(bytes)?;
        self.waiting.extend_from_slice(&bytes[..at]);
        self.waiting.extend_from_slice(&self.answer());
        Some(bytes.len())
    }

    fn answer(&self) -> Vec<u8> {
        let id = self.ids.fresh();
        let fault = Fault::new(
            Code::InvalidRequest,
            "This is no HTTP request that we can read, or its address or headers are too large. Send HTTP/1.1 with shorter ones.",
        );
        let body = serde_json::to_vec(&Envelope::new(&fault, id)).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             cache-control: no-store\r\naccess-control-allow-origin: *\r\n\
             access-control-expose-headers: retry-after,x-correlation-id\r\nx-correlation-id: {}\r\n\r\n",
            body.len(),
            id.text()
        );
        [head.into_bytes(), body].concat()
    }
}

/// Longer than any such answer.
const LONGEST: usize = 256;

/// Where an answer of hyper's own begins: a client error without a body at the very end. All of ours have a correlation id, and
/// those of the side that homeservers call have a type.
fn bare_refusal(bytes: &[u8]) -> Option<usize> {
    let start = bytes.len().saturating_sub(LONGEST);
    let tail = std::str::from_utf8(bytes.get(start..)?).ok()?;
    let at = tail.rfind("HTTP/1.1 4")?;
    let head = tail[at..].strip_suffix("\r\n\r\n")?;
    let mut lines = head.split("\r\n").skip(1).map(|line| line.split_once(": ").map_or("", |(name, _)| name));
    let bare = lines.all(|name| ["connection", "content-length", "date"].contains(&name));
    (bare && head.contains("\r\ncontent-length: 0")).then_some(start + at)
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explained<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_waiting(context))?;
        match self.explain(bytes) {
            Some(length) => Poll::Ready(Ok(length)),
            None => Pin::new(&mut self.inner).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_waiting(context))?;
        let last = slices.iter().rfind(|s| !s.is_empty());
        if last.is_some_and(|last| bare_refusal(last).is_some()) {
            let whole: Vec<u8> = slices.iter().flat_map(|s| s.iter().copied()).collect();
            return Poll::Ready(Ok(self.explain(&whole).unwrap_or_default()));
        }
        Pin::new(&mut self.inner).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_waiting(context))?;
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_waiting(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Explained<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const BARE: &str = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\
                        date: Mon, 30 Nov 2026 21:00:00 GMT\r\n\r\n";

    #[rstest]
    #[case::alone("", Some(0))]
    #[case::after_an_answer("HTTP/1.1 204 No Content\r\nx-correlation-id: x\r\n\r\n", Some(48))]
    #[case::after_much(&"x".repeat(5000), Some(5000))]
    fn found_at_the_end(#[case] before: &str, #[case] expected: Option<usize>) {
        assert_eq!(bare_refusal(format!("{before}{BARE}").as_bytes()), expected);
    }

    #[rstest]
    #[case::ours("HTTP/1.1 400 Bad Request\r\nx-correlation-id: x\r\ncontent-length: 0\r\n\r\n")]
    #[case::of_the_other_side(
        "HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    )]
    #[case::a_success("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")]
    #[case::with_more_behind_it("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\nx")]
    #[case::cut("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n")]
    #[case::nothing("")]
    fn others_are_left_alone(#[case] bytes: &str) {
        assert_eq!(bare_refusal(bytes.as_bytes()), None);
    }
}
