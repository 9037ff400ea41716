//! The use cases that handlers call. In this crate's own tests a double with the same methods stands in their place, so
//! that every shape of answer can be asked for without a homeserver.

#[cfg(test)]
pub use crate::double::App;
#[cfg(test)]
pub(crate) use crate::double::{Caller, Watching};
#[cfg(not(test))]
pub use parlour_app::App;
#[cfg(not(test))]
pub(crate) use parlour_app::{Caller, Watching};
