use super::Report;
use crate::config::{BAN_LISTS_UNUSED, Config};

/// Nobody should count on ban lists that nobody reads.
pub(super) fn check(config: &Config, report: &mut Report) {
    if config.names_ban_lists() {
        report.note("moderation.ban_lists", BAN_LISTS_UNUSED);
    }
}
