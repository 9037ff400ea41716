//! `/mcp` through the real router, over the double of the use cases.

mod arguments;
mod calls;
mod lists;
mod protocol;
mod rubbish;
mod streams;
mod support;
