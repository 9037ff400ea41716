//! Deadlines, and ids that were never there before.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Between two looks at what has no event to wait for, such as a process that starts.
const STEP: Duration = Duration::from_millis(30);

/// A point in time after which waiting is over.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// So many seconds from now.
    pub fn after(seconds: u64) -> Self {
        Self(Instant::now() + Duration::from_secs(seconds))
    }

    /// What is left; zero once it has passed.
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// # Errors
    /// It has passed; the error names what was waited for.
    pub fn check(self, what: &str) -> Result<()> {
        if self.left().is_zero() {
            bail!("waited in vain for {what}");
        }
        Ok(())
    }
}

/// Looks until `look` gives something, at most so many seconds.
///
/// # Errors
/// The deadline passed (the error names `what`), or `look` failed.
pub async fn until<T>(
    what: &str,
    seconds: u64,
    mut look: impl AsyncFnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Deadline::after(seconds);
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        deadline.check(what)?;
        tokio::time::sleep(STEP).await;
    }
}

/// A version 7 UUID, as submission ids have to be.
pub fn fresh_uuid() -> String {
    uuid::Uuid::now_v7().to_string()
}
