//! What the operator's commands ask of a bridge that runs.

mod status;
