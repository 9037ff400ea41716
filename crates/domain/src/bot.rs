//! What people say to the bridge bot: which words are meant for it ([`prefix`]), what they ask for ([`command`]), and
//! which agent they mean ([`whom`]). People type what they like; what can be understood is.

pub mod command;
pub mod prefix;
pub mod whom;

pub use command::{Asked, CodeWish, Reading, Verb};
