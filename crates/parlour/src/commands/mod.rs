//! One file per subcommand.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod example;
pub(crate) mod registration;
pub(crate) mod serve;
pub(crate) mod status;
