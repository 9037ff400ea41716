//! Whether agents can be told apart by their address.

use super::Report;
use crate::config::Config;

pub(super) fn check(config: &Config, report: &mut Report) {
    if !config.server.trusted_proxies.is_empty() {
        let count = config.server.trusted_proxies.len();
        report.ok(
            "server.trusted_proxies",
            &format!("X-Forwarded-For is believed from {count} networks or addresses"),
        );
    } else if behind_a_proxy(config) {
        report.note(
            "server.trusted_proxies",
            "is empty, so X-Forwarded-For is ignored. If a reverse proxy stands before Parlour, put its address here \
             (such as 127.0.0.1), else all agents count as one source and share its limits",
        );
    }
}

/// TLS ends before us, or the public uses another port.
fn behind_a_proxy(config: &Config) -> bool {
    let port = format!(":{}", config.server.listen.port());
    config.server.public_url.as_ref().is_some_and(|url| {
        let url = url.as_str();
        url.starts_with("https://") || !url.contains(&port)
    })
}
