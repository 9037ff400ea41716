//! The API's own description: OpenAPI 3.1, made of the routes' table, of the types that are read and written, and of the
//! table of error codes. A handler's extractors say what it takes and how they refuse ([`parts`]); its `doc` beside it says
//! the rest.

mod document;
mod operation;
mod parameter;
mod parts;
mod path;
mod refusals;
pub(crate) mod samples;
mod schema;

pub(crate) use document::document;
pub(crate) use operation::Operation;
pub(crate) use parameter::{Kind, Parameter};
pub(crate) use path::Path;
