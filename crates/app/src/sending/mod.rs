//! A message's way out: claimed in the store, sent to the homeserver, settled by its answer or by the echo.

mod carry;
mod flights;
mod look;
mod publish;
mod put;
mod ready;
mod reseal;
mod settle;

pub(crate) use flights::Flights;
pub(crate) use look::Unclear;
pub(crate) use publish::Order;
pub(crate) use put::{ENCRYPTED, MESSAGE, Outgoing};
pub(crate) use settle::{append, author, cut_back};
