//! Config and registration.

use std::path::Path;

use parlour_matrix::Registration;

use super::Report;
use crate::config::Config;

pub(super) fn config(path: &Path, report: &mut Report) -> Option<Config> {
    match Config::load(path) {
        Ok(config) => {
            report.ok("config", &summary(path, &config));
            if config.lobbies.is_empty() {
                report.note(
                    "config",
                    "there is no [[lobby]]: agents that name no room are told that there is none",
                );
            }
            Some(config)
        }
        Err(failure) => {
            failure.lines().iter().for_each(|line| report.missing("config", line));
            None
        }
    }
}

fn summary(path: &Path, config: &Config) -> String {
    let lobbies = match config.lobbies.len() {
        1 => "1 lobby".to_owned(),
        n => format!("{n} lobbies"),
    };
    format!("{}, {lobbies}, agents use {}", path.display(), config.public_url())
}

pub(super) fn registration(config: &Config, report: &mut Report) -> Option<Registration> {
    let path = config.homeserver.registration.0.display();
    let registration = Registration::read(&config.homeserver.registration.0)
        .map_err(|e| report.missing("registration", &e.to_string()));
    let registration = registration.ok()?;
    let mismatches = registration.mismatches(&config.wanted());
    if mismatches.is_empty() {
        report.ok("registration", &format!("{path} fits the config"));
    }
    mismatches
        .iter()
        .for_each(|line| report.missing("registration", &format!("{path} no longer fits: {line}")));
    Some(registration)
}
