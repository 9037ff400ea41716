//! The clock and the chance of the load tool, in one place: what it measures is real time.
#![allow(
    clippy::disallowed_methods,
    reason = "a bench measures the real clock, and its markers only have to be unique"
)]
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The moment it is now.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Milliseconds from `start` until now.
pub(crate) fn ms_since(start: Instant) -> f64 {
    ms_between(start, now())
}

/// Milliseconds from `start` to `end`; 0 where `end` came first.
pub(crate) fn ms_between(start: Instant, end: Instant) -> f64 {
    end.saturating_duration_since(start).as_secs_f64() * 1000.0
}

/// Milliseconds since 1970, as `origin_server_ts` has them.
pub(crate) fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}

/// 32 hexadecimal digits that were never there before.
pub(crate) fn fresh_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// A submission id: the contract wants a UUID.
pub(crate) fn fresh_uuid() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// A pause between two measurements, so that what the first one left behind is over.
pub(crate) async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
