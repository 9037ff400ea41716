use parking_lot::Mutex;
use parlour_app::runtime::Chance;
use rand::{RngCore, SeedableRng, rngs::StdRng};

/// Randomness that is the same in every run. Share one among all starts of a bridge: a second one from the same seed
/// would draw the same tokens and Matrix ids again.
#[derive(Debug)]
pub struct SeededChance(Mutex<StdRng>);

impl SeededChance {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Chance for SeededChance {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().fill_bytes(bytes);
    }
}
