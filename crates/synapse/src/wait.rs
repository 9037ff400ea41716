//! Waiting for something outside this process, with an end.

use std::time::{Duration, Instant};

/// How long to sleep between two looks. What is waited for (a start, an exit) takes hundreds of milliseconds.
const STEP: Duration = Duration::from_millis(25);

/// A point in time after which waiting is over.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// A deadline this far from now.
    // Processes run in real time, so only the real clock can bound the wait for them.
    #[allow(clippy::disallowed_methods)]
    pub fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// What is left of it; zero once it has passed.
    #[allow(clippy::disallowed_methods)]
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Looks again and again until `look` gives something; `None` when the deadline passes first.
    ///
    /// # Errors
    /// The first error of `look` ends the wait.
    pub fn poll<T>(self, mut look: impl FnMut() -> anyhow::Result<Option<T>>) -> anyhow::Result<Option<T>> {
        loop {
            if let Some(found) = look()? {
                return Ok(Some(found));
            }
            if self.left().is_zero() {
                return Ok(None);
            }
            std::thread::sleep(STEP.min(self.left()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_until_there_is_something() {
        let mut looks = 0;
        let found = Deadline::after(Duration::from_secs(30)).poll(|| {
            looks += 1;
            Ok((looks == 3).then_some(looks))
        });
        assert_eq!(found.unwrap(), Some(3));
    }

    #[test]
    fn looks_once_even_when_it_is_late() {
        let late = Deadline::after(Duration::ZERO);
        assert_eq!(late.poll(|| Ok(Some(1))).unwrap(), Some(1));
        assert_eq!(late.poll(|| Ok(None::<u8>)).unwrap(), None);
    }
}
