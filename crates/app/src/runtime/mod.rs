//! Time, chance and tasks: what a test replaces, and what shutdown waits for.

mod chance;
mod clock;
mod tasks;

pub use chance::{Chance, SystemChance};
pub use clock::{Clock, SystemClock};
pub use tasks::Tasks;
