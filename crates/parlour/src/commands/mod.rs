//! One file per subcommand.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod example;
pub(crate) mod knocks;
pub(crate) mod quotas;
pub(crate) mod registration;
pub(crate) mod rooms;
pub(crate) mod serve;
pub(crate) mod status;
