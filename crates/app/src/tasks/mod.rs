//! What runs in the background, one task a file.

mod awaited_keys;
mod backfill;
mod bring_up;
mod housekeeping;
mod idle;
mod invitations;
mod late;
mod left_behind;
mod loops;
mod lost_devices;
mod probe;
mod reconcile;
mod silence;
mod strays;
mod successors;

pub(crate) use invitations::FollowError;
pub(crate) use late::Late;
pub(crate) use loops::Loops;
pub(crate) use probe::Probe;
