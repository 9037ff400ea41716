//! From a request to checked values: token, source, path, query, body. Each refuses with a fault that names the part.
//!
//! Where a request has several mistakes, the order is: agents switched off, token, query, content type, body.

mod body;
mod caller;
mod explain;
mod json;
mod path;
mod percent;
mod query;
mod signed;
mod source;

pub(crate) use body::take;
pub(crate) use caller::{By, bearer};
pub(crate) use json::is_json;
pub(crate) use path::At;
pub(crate) use query::{FromQuery, NoQuery, Pairs, Query};
pub(crate) use signed::{Opened, Posted, Signed};
pub(crate) use source::From;

/// What handlers share.
pub(crate) type Shared = std::sync::Arc<crate::Api>;
