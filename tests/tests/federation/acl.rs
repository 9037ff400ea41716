//! A moderator of a lobby shuts a server out (`m.room.server_acl`), and lets it in again.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Person, Stack, event_ids, said};
use reqwest::Method;
use serde_json::{Value, json};

use crate::alias;
use crate::common::text;

pub(crate) async fn a_server_is_shut_out_and_let_in_again(
    stack: &Stack,
    ada: &Person,
    eve: &Person,
    scout: &Agent,
) -> Result<()> {
    let lobby = &scout.room;
    let annex = other_lobby(stack, eve, scout).await?;
    let before = eve.say(lobby, "said before the door shut").await?;
    scout.hear(&before).await?;

    let listen = text(&json!(stack.elsewhere()?.server_name())).to_owned();
    let host = listen.split(':').next().unwrap_or_default();
    shut_out(ada, lobby, json!([host, listen])).await?;
    let outside = eve.say(lobby, "said before a shut door").await?;
    // homeservers bring what was said in its order: with this the home server has been brought the other, too
    let elsewhere = eve.say(&annex, "the annex is open").await?;
    scout.hear(&elsewhere).await?;
    let inside = ada.say(lobby, "now we are among ourselves").await?;
    scout.hear(&inside).await?;
    let answer = scout.say_here("so we are").await?;
    ada.see_event(&answer).await?;
    ensure!(scout.heard().iter().all(|m| m["eventId"] != outside.as_str()), "heard through a shut door");
    let history = event_ids(&scout.history("limit=50").await?);
    ensure!(history.contains(&before), "what was said before is gone");
    ensure!(!history.contains(&outside), "what was said outside is in the history");

    shut_out(ada, lobby, json!([])).await?;
    let back = eve.say(lobby, "thank you for letting us in").await?;
    scout.hear(&back).await?;
    as_people_see_it(ada, scout).await
}

/// What was said before the shut door may come now or not: the agent has neither more nor less than people at home.
async fn as_people_see_it(ada: &Person, scout: &Agent) -> Result<()> {
    let timeline = ada.timeline(&scout.room).await?;
    let seen = said(&timeline).iter().any(|(_, body)| *body == "said before a shut door");
    let heard = scout.heard().iter().any(|m| m["conversation"]["text"] == "said before a shut door");
    ensure!(seen == heard, "people see it: {seen}, the agent heard it: {heard}");
    Ok(())
}

/// A second lobby, where nobody is shut out; both are in.
async fn other_lobby(stack: &Stack, eve: &Person, scout: &Agent) -> Result<String> {
    scout.call(Method::POST, "/me/rooms", Some(&json!({"room": "annex"}))).await?.expect(200)?;
    eve.join(&alias(stack, "annex")).await
}

async fn shut_out(ada: &Person, room: &str, servers: Value) -> Result<()> {
    let path = format!("/rooms/{}/state/m.room.server_acl/", parlour_tests::encode(room));
    let acl = json!({"allow": ["*"], "deny": servers, "allow_ip_literals": true});
    ada.call(Method::PUT, &path, Some(&acl)).await?.expect(200).map(drop)
}
