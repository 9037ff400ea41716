//! Whether the homeserver knows us and lets us act as the bot.

use super::{Bench, Report, probe::Answer};

const WHOAMI: [&str; 3] = ["v3", "account", "whoami"];

/// What is known of the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bot {
    /// It is there and we can act as it.
    Ours,
    /// The first start makes it.
    NotYet,
    /// It cannot be used.
    Trouble,
}

/// Whether the token is good; the homeserver's name is compared on the way.
pub(super) async fn token(bench: &Bench, report: &mut Report) -> bool {
    match bench.probe.get(&WHOAMI, &[]).await {
        Ok(answer) if answer.is_ok() => whose(bench, answer.text("user_id"), report),
        Ok(answer) => {
            report.missing("as_token", &refused(bench, &answer));
            false
        }
        Err(cause) => {
            report.missing("as_token", &format!("no answer to whoami: {cause}; check again"));
            false
        }
    }
}

fn refused(bench: &Bench, answer: &Answer) -> String {
    let file = bench.config.homeserver.registration.0.display();
    match answer.status {
        401 | 403 => format!(
            "the homeserver does not know the token ({}). Name {file} in its config (Synapse: \
             app_service_config_files) and restart it; after a change of the file too",
            answer.describe()
        ),
        _ => format!("the homeserver did not say who we are ({}); look into its log", answer.describe()),
    }
}

fn whose(bench: &Bench, user: &str, report: &mut Report) -> bool {
    let (localpart, server) = user.trim_start_matches('@').split_once(':').unwrap_or((user, ""));
    let (wanted, sender) = (&bench.config.homeserver.server_name, &bench.registration.sender_localpart);
    if server != wanted.as_str() {
        let todo = "correct homeserver.server_name, and write the registration anew";
        report.missing(
            "server_name",
            &format!("the homeserver is {server:?}, the config says {wanted}; {todo}"),
        );
        return false;
    }
    if localpart != sender {
        let todo = "restart it, so that it reads the file that we read";
        report.missing(
            "as_token",
            &format!("the homeserver takes us for {localpart:?} instead of {sender}; {todo}"),
        );
        return false;
    }
    report.ok("as_token", &format!("the homeserver {wanted} knows us"));
    true
}

pub(super) async fn bot(bench: &Bench, report: &mut Report) -> Bot {
    let Ok(bot) = bench.config.bot() else { return Bot::Trouble };
    match bench.probe.get(&WHOAMI, &[("user_id", bot.as_str())]).await {
        Ok(answer) if answer.is_ok() && answer.text("user_id") == bot => {
            report.ok("people.bot", &format!("{bot} is there and ours"));
            Bot::Ours
        }
        Ok(answer) => not_yet(bench, bot.as_str(), &answer, report).await,
        Err(cause) => {
            report.missing("people.bot", &format!("no answer about {bot}: {cause}; check again"));
            Bot::Trouble
        }
    }
}

/// Homeservers say "not registered" and "not yours" alike. A name that others may not take is free for us.
async fn not_yet(bench: &Bench, bot: &str, answer: &Answer, report: &mut Report) -> Bot {
    let localpart = bench.config.people.bot.as_str();
    let available = bench.probe.get(&["v3", "register", "available"], &[("username", localpart)]).await;
    if available.is_ok_and(|a| a.errcode() != "M_USER_IN_USE") && answer.status == 403 {
        report.ok("people.bot", &format!("{bot} will be made at the first start"));
        return Bot::NotYet;
    }
    let todo = "choose another people.bot and write the registration anew, or restart the homeserver if the file changed";
    report.missing("people.bot", &format!("we cannot act as {bot} ({}); {todo}", answer.describe()));
    Bot::Trouble
}
