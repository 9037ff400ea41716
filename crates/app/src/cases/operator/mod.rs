//! What the operator's commands ask of a bridge that runs.

mod agents;
mod audit;
mod close;
mod codes;
mod disable;
mod find;
mod knocks;
mod quotas;
mod rooms;
mod status;
