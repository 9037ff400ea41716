//! Whether there is a Matrix homeserver under `homeserver.url`.

use super::{Bench, Report, probe::Answer};

/// The versions of the specification that it implements; `None` where there is none.
pub(super) async fn check(bench: &Bench, report: &mut Report) -> Option<Vec<String>> {
    let url = bench.config.homeserver.url.as_str();
    let answer = bench.probe.look(&["versions"], &[]).await;
    let versions = answer.as_ref().ok().and_then(versions);
    match (&versions, &answer) {
        (Some(versions), _) => {
            let newest = versions.last().map_or("an old Matrix", String::as_str);
            report.ok("homeserver", &format!("{url} is a Matrix homeserver (up to {newest})"));
        }
        (None, Ok(answer)) => report.missing("homeserver", &stranger(url, answer)),
        (None, Err(cause)) => report.missing(
            "homeserver",
            &format!("{url} cannot be reached: {cause}; start the homeserver, or correct homeserver.url"),
        ),
    }
    versions
}

fn versions(answer: &Answer) -> Option<Vec<String>> {
    let list = answer.body.as_ref().filter(|_| answer.is_ok())?["versions"].as_array()?;
    Some(list.iter().filter_map(|v| v.as_str()).map(str::to_owned).collect())
}

fn stranger(url: &str, answer: &Answer) -> String {
    let todo = match (&answer.location, answer.status) {
        (Some(_), _) => "set homeserver.url to the address that it redirects to",
        (None, 500..) => "the homeserver behind it seems to be down; start it, or look into its log",
        (None, _) => {
            "set homeserver.url to the address of the client-server API, not to a web page or the federation port"
        }
    };
    format!("{url} does not answer as a Matrix homeserver ({}); {todo}", answer.describe())
}
