//! Through the real router, over the double of the use cases.

mod bad_input;
mod edge;
mod log;
mod metrics;
mod openapi;
mod operator;
mod pages;
pub(crate) mod samples;
mod sockets;
pub(crate) mod support;
