use rand::{TryRngCore, rngs::OsRng};

/// Randomness fit for secrets.
pub trait Chance: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);
}

impl dyn Chance {
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}

/// The operating system's.
#[derive(Clone, Copy, Debug)]
pub struct SystemChance;

impl Chance for SystemChance {
    #[allow(clippy::expect_used, reason = "without randomness there are no secrets; going on would be worse")]
    fn fill(&self, bytes: &mut [u8]) {
        OsRng.try_fill_bytes(bytes).expect("the operating system gives random bytes");
    }
}
