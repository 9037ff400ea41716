//! What runs in the background, one task a file.

mod backfill;
mod bring_up;
mod housekeeping;
mod idle;
mod left_behind;
mod reconcile;
mod strays;
