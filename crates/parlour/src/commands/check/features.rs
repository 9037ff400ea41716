//! Which features the homeserver has. Nothing here is needed for lobbies, so these lines only inform.

use super::{Bench, Report, account::Bot, devices};

pub(super) async fn check(bench: &Bench, versions: &[String], bot: Bot, pinged: bool, report: &mut Report) {
    let yes = |has: bool| if has { "yes" } else { "no" };
    report.note("feature", &format!("ping (Matrix 1.7): {}", yes(pinged)));
    if bot == Bot::Ours {
        report.note("feature", "acting as a user of ours: yes");
        presence(bench, report).await;
    }
    let ephemeral = match bench.registration.receive_ephemeral {
        true => "asked for in the registration; Synapse and tuwunel send them, Conduit never does",
        false => "not asked for in the registration",
    };
    report.note("feature", &format!("typing and receipts in transactions: {ephemeral}"));
    encryption(bench, versions, report);
    devices::check(bench, report);
}

async fn presence(bench: &Bench, report: &mut Report) {
    let Ok(bot) = bench.config.bot() else { return };
    let answer =
        bench.probe.get(&["v3", "presence", bot.as_str(), "status"], &[("user_id", bot.as_str())]).await;
    let has = answer.is_ok_and(|answer| answer.is_ok());
    let text = if has { "presence: yes" } else { "presence: no; agents will not show as online" };
    report.note("feature", text);
}

/// Whether keys are really pushed shows only once there are devices; `/versions` tells nothing of it.
fn encryption(bench: &Bench, versions: &[String], report: &mut Report) {
    let (msc3202, msc4190) = (bench.registration.msc3202, bench.registration.msc4190);
    let text = match (msc3202, msc4190) {
        (true, true) => "asked for in the registration",
        _ => "not asked for in the registration; write it anew",
    };
    report.note("feature", &format!("devices and keys for encrypted rooms (MSC3202, MSC4190): {text}"));
    if !versions.iter().any(|v| v.starts_with("v1.")) {
        report.note("feature", "the homeserver is older than Matrix 1.1; an update is worth it");
    }
}
