//! An agent and people talk in a lobby: what each side writes, the other side sees as its own kind of thing.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

use anyhow::Result;
use parlour_tests::{Agent, Person, Plan, SERVER_NAME, Stack, event_ids};
use serde_json::{Value, json};

#[path = "../common/mod.rs"]
mod common;
mod people;
mod rooms;
mod words;

use common::text;

#[tokio::test(flavor = "multi_thread")]
async fn a_lobby_that_the_bridge_made() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let room = ada.join(&format!("#lobby:{SERVER_NAME}")).await?;
    assert_eq!(ada.state(&room, "m.room.join_rules").await?["join_rule"], "public");
    assert_eq!(ada.state(&room, "m.room.history_visibility").await?["history_visibility"], "world_readable");
    assert_eq!(ada.state(&room, "m.room.encryption").await?, Value::Null);
    assert_eq!(ada.state(&room, "m.room.name").await?["name"], "The lobby");
    assert_eq!(ada.state(&room, "m.room.create").await?["room_version"], "12");
    whole_conversation(&stack, &ada, "lobby", &room).await?;
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn lobbies_that_a_person_made_earlier() -> Result<()> {
    let stack = Stack::prepare(Plan { lobbies: vec!["ten", "twelve"], ..Plan::default() }).await?;
    let ada = stack.person("ada")?;
    let mut rooms = Vec::new();
    for (slug, version) in [("ten", "10"), ("twelve", "12")] {
        let room = json!({"preset": "public_chat", "visibility": "public", "name": "Ada's", "room_version": version,
            "room_alias_name": slug});
        rooms.push((slug, ada.create_room(&room).await?));
    }
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    for (slug, room) in rooms {
        assert_eq!(
            ada.resolve(&format!("#{slug}:{SERVER_NAME}")).await?,
            room,
            "the bridge took another room"
        );
        whole_conversation(&stack, &ada, slug, &room).await?;
        rooms::moderation(&stack, &ada, slug, &room).await?;
    }
    stack.finish().await
}

/// Two bridges on one homeserver differ in these.
#[tokio::test(flavor = "multi_thread")]
async fn a_bridge_with_names_of_its_own() -> Result<()> {
    let more = "[people]\nbot = \"helper\"\npuppet_prefix = \"ai.\"\n";
    let stack = Stack::start(Plan { more, ..Plan::default() }).await?;
    let ada = stack.person("ada")?;
    let room = ada.join(&format!("#lobby:{SERVER_NAME}")).await?;
    let scout = stack.agent("Scout", None).await?;
    assert!(scout.token.starts_with("helper_"), "tokens begin with the bridge's name");
    let puppet = ada.member_named(&room, &scout.display_name).await?;
    assert!(puppet.starts_with("@ai."), "{puppet}");
    let create = ada.see("who made the room", |e| e["type"] == "m.room.create").await?;
    assert_eq!(create["sender"], format!("@helper:{SERVER_NAME}"));
    scout.settle_in().await?;
    let asked = ada.say(&room, "Are you there?").await?;
    scout.hear(&asked).await?;
    let answer = scout.say("I am.").await?;
    ada.see_event(text(&answer["eventId"])).await?;
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_types_is_waited_for() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let scout = stack.agent("Scout", None).await?;
    let room = ada.join(&scout.room).await?;
    scout.settle_in().await?;
    let wait = {
        let scout = scout.clone();
        tokio::spawn(async move { scout.wait("wait=30&wake=all&settle=4").await })
    };
    ada.say(&room, "I have more to").await?;
    ada.typing(&room, true).await?;
    tokio::pin!(wait);
    // Longer than settle: only the typing can hold it.
    let early = tokio::time::timeout(std::time::Duration::from_secs(7), &mut wait).await;
    assert!(early.is_err(), "answered while the author was typing: {early:?}");
    ada.say(&room, "say").await?;
    ada.typing(&room, false).await?;
    let body = wait.await??.expect(200)?;
    assert_eq!(body["wake"]["reason"], "messages");
    assert_eq!(event_ids(&body).len(), 2, "{body}");
    stack.finish().await
}

async fn whole_conversation(stack: &Stack, ada: &Person, slug: &str, room: &str) -> Result<()> {
    let bob = stack.person(&format!("bob-{slug}"))?;
    bob.join(room).await?;
    // Only somebody who is there already can tell that the bridge has what is said.
    let early = stack.agent("Early", Some(slug)).await?;
    early.settle_in().await?;
    let before = ada.say(room, "said before Scout came").await?;
    early.hear(&before).await?;
    early.call(reqwest::Method::DELETE, "/me", None).await?.expect(204)?;
    let scout = rooms::arrive(stack, ada, slug, room, &before).await?;
    let puppet = ada.member_named(room, &scout.display_name).await?;
    words::agent_to_people(ada, &scout, room, &puppet).await?;
    people::people_to_agent(ada, &bob, &scout, room, &puppet).await?;
    people::other_kinds(ada, &scout, room).await?;
    people::changes(ada, &bob, &scout, room).await?;
    words::threads(ada, &scout, room).await?;
    two_agents(stack, ada, slug, &scout, &puppet).await?;
    nothing_but_what_was_said(ada, &scout, room, &puppet).await?;
    rooms::leave(ada, &scout, room, &puppet).await
}

async fn two_agents(stack: &Stack, ada: &Person, slug: &str, scout: &Agent, puppet: &str) -> Result<()> {
    let helper = stack.agent("Helper", Some(slug)).await?;
    helper.settle_in().await?;
    let sent = scout.say("Helper, are you there?").await?;
    let heard = helper.hear(text(&sent["eventId"])).await?;
    assert_eq!(heard["messageId"], sent["submissionId"]);
    let agent = json!({"agentId": scout.agent_id, "displayName": scout.display_name, "matrixUserId": puppet});
    let actor =
        json!({"kind": "agent", "agent": agent, "displayName": scout.display_name, "matrixUserId": puppet});
    assert_eq!(heard["actor"], actor);
    let sent = helper.send(&json!({"text": "Yes", "mentions": [puppet]})).await?.expect(201)?;
    let heard = scout.hear(text(&sent["eventId"])).await?;
    assert_eq!((&heard["mentionsMe"], text(&heard["actor"]["kind"])), (&json!(true), "agent"));
    ada.see_event(text(&sent["eventId"])).await?;
    helper.call(reqwest::Method::DELETE, "/me", None).await?.expect(204).map(drop)
}

/// The agent heard all messages of others since it came, each once, in order, and nothing else; its own are history.
async fn nothing_but_what_was_said(ada: &Person, scout: &Agent, room: &str, puppet: &str) -> Result<()> {
    scout.hear(&ada.say(room, "that is the end of it").await?).await?;
    let timeline = ada.timeline(room).await?;
    let joined = timeline.iter().position(|e| e["state_key"] == puppet).unwrap_or_default();
    let since: Vec<&Value> = timeline[joined..].iter().filter(|e| is_message(e)).collect();
    let theirs: Vec<&str> =
        since.iter().filter(|e| e["sender"] != puppet).map(|e| text(&e["event_id"])).collect();
    let redacted: Vec<&str> = timeline.iter().filter(|e| is_empty(e)).map(|e| text(&e["event_id"])).collect();
    let heard = scout.heard();
    let heard: Vec<&str> =
        heard.iter().map(|m| text(&m["eventId"])).filter(|id| !redacted.contains(id)).collect();
    assert_eq!(heard, theirs);
    let mine: Vec<&str> =
        since.iter().filter(|e| e["sender"] == puppet).map(|e| text(&e["event_id"])).collect();
    let history = scout.history("limit=50").await?;
    let shown = history["messages"].as_array().into_iter().flatten();
    let shown_mine = shown.filter(|m| m["fromMe"] == true).count();
    assert!(shown_mine > 0 && shown_mine <= mine.len());
    Ok(())
}

fn is_message(event: &Value) -> bool {
    let kind = text(&event["type"]);
    let replaces = event["content"]["m.relates_to"]["rel_type"] == "m.replace";
    matches!(kind, "m.room.message" | "m.sticker" | "org.matrix.msc3381.poll.start")
        && !replaces
        && !is_empty(event)
}

/// What a redaction leaves of an event.
fn is_empty(event: &Value) -> bool {
    event["content"].as_object().is_none_or(|content| content.is_empty())
}
