/// So many at once and then one in a while: a bucket that is refilled.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    every_ms: i64,
    burst: i64,
    /// When the bucket would be full.
    full_at_ms: i64,
}

impl Pace {
    #[must_use]
    pub fn new(every_ms: i64, burst: i64) -> Self {
        Self { every_ms, burst, full_at_ms: i64::MIN }
    }

    /// The earliest moment for the next one.
    #[must_use]
    pub fn free_at(&self) -> i64 {
        self.full_at_ms.saturating_sub(self.every_ms * (self.burst - 1))
    }

    pub fn take(&mut self, now_ms: i64) {
        self.full_at_ms = self.full_at_ms.max(now_ms) + self.every_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_one_in_a_while() {
        let mut pace = Pace::new(100, 3);
        let mut now = 1_000;
        for _ in 0..3 {
            assert!(pace.free_at() <= now);
            pace.take(now);
        }
        assert_eq!(pace.free_at(), 1_100);
        now = 1_100;
        pace.take(now);
        assert_eq!(pace.free_at(), 1_200);
        assert!(pace.free_at() <= 1_700);
        (0..3).for_each(|_| pace.take(1_700));
        assert_eq!(pace.free_at(), 1_800);
    }
}
