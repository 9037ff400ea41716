//! Logs on standard error: one event, one line.

use std::{
    io::{self, Write},
    panic::PanicHookInfo,
};

use tracing::Metadata;
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{FilterExt, filter_fn},
    fmt::MakeWriter,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use crate::{cli::LogFormat, failure::Failure};

/// Starts logging, and has panics logged as well.
///
/// # Errors
/// The filter cannot be read.
pub(crate) fn start(format: LogFormat, filter: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter).map_err(|e| {
        Failure::new(format!("--log {filter}: {e}; write it such as info or info,parlour_app=debug"))
    })?;
    let lines = tracing_subscriber::fmt::layer().with_writer(Lines).with_ansi(false);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
    };
    let begun =
        tracing_subscriber::registry().with(lines.with_filter(filter.and(filter_fn(may_speak)))).try_init();
    begun.map_err(|e| Failure::new(format!("cannot start logging: {e}")))?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// rmcp logs whole messages at its finer levels, tokens and texts included; whatever the operator asks for, it stays
/// silent. What became of a request is in our own lines.
fn may_speak(event: &Metadata<'_>) -> bool {
    !event.target().starts_with("rmcp")
}

/// A panic's text may quote the value at hand, and that may be a message or a secret. Fixed texts cannot.
fn log_panic(info: &PanicHookInfo<'_>) {
    let text = info.payload().downcast_ref::<&'static str>().copied().unwrap_or("(text left out)");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    tracing::error!(place, thread = thread.name().unwrap_or_default(), "panic, a mistake in Parlour: {text}");
}

/// Standard error, each event as one line even where a text in it breaks lines.
#[derive(Clone, Copy, Debug)]
struct Lines;

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for Lines {
    /// An event comes as one call. Logging goes on where nobody reads any more.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().lock().write_all(&one_line(event));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn one_line(event: &[u8]) -> Vec<u8> {
    let text = event.strip_suffix(b"\n").unwrap_or(event);
    let mut line: Vec<u8> = text.iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b }).collect();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        assert_eq!(one_line(b"a\nb\r\nc\n"), b"a b  c\n");
        assert_eq!(one_line(b"a"), b"a\n");
    }
}
