//! What people see of agents besides their words: who is there, what was read, who is about to answer. Decoration: it
//! is shown late or not at all rather than cost the homeserver much.

mod pace;
mod presence;
mod receipts;
mod typing;

pub use pace::Pace;
pub use presence::{Presence, PresenceBoard};
pub use receipts::{Haste, ReceiptBoard};
pub use typing::{TYPING_SHOWN_MS, TypistBoard, concerns};
