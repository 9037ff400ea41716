//! What no decent client or homeserver would send: each gets its clear error, nothing bad is kept, and the bridge goes on.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

use anyhow::{Result, ensure};
use parlour_tests::raw::RawAnswer;
use parlour_tests::{Agent, Person, Plan, Stack};

mod agents;
mod bodies;
#[path = "../common/mod.rs"]
mod common;
mod database;
mod events;
mod homeserver;

use common::text;

const SEND: &str = "/v1/network-agents/me/messages";
const JSON: &str = "Content-Type: application/json\r\n";

/// Stands for message text in all that is sent here; no log line may have it. With blanks, as text has: without it would be
/// a token or a code.
const SECRET_TEXT: &str = "xyzzy secret words";

async fn set_up() -> Result<(Stack, Agent, Person)> {
    let stack = Stack::start(Plan::default()).await?;
    stack.keep_secret(SECRET_TEXT);
    let scout = stack.agent("Scout", None).await?;
    let ada = stack.person("ada")?;
    ada.join(&scout.room).await?;
    scout.settle_in().await?;
    Ok((stack, scout, ada))
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// A 400 in the envelope, with the field where one is to be named.
fn is_invalid(what: &str, answer: &RawAnswer, code: &str, field: Option<&str>) -> Result<()> {
    let body = &answer.body;
    ensure!(answer.status == 400 && body["code"] == format!("network_agent.{code}"), "{what}: {answer:?}");
    ensure!(text(&body["message"]).len() > 10 && body["retryable"] == false, "{what}: {body}");
    ensure!(
        answer.head.contains("x-correlation-id:") && answer.head.contains("access-control-allow-origin: *"),
        "{what}: {}",
        answer.head
    );
    ensure!(
        field.is_none_or(|field| body["details"]["field"] == field),
        "{what} should name {field:?}: {body}"
    );
    ensure!(!body.to_string().contains(SECRET_TEXT), "{what}: the error repeats what was sent: {body}");
    Ok(())
}

/// What is said and done now goes through as if nothing had been.
async fn still_works(stack: &Stack, scout: &Agent, ada: &Person) -> Result<()> {
    ensure!(stack.bridge.readiness().await?.status == 200, "no longer ready");
    scout.hear(&ada.say(&scout.room, "still there?").await?).await?;
    let sent = scout.say("still here").await?;
    ada.see_event(text(&sent["eventId"])).await?;
    Ok(())
}
