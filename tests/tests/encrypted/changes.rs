//! Encrypted rooms that people change: a newer version, other powers, somebody banned.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Client, Plan, encode, fresh_uuid};
use reqwest::Method;
use serde_json::json;

use crate::kitchen::{BOT, Kitchen};
use crate::world::{World, agent_reads, person_reads, reads_nothing_of};

/// From 10 to 12: invited into the new room, the bot takes the agents along, with all that they have.
#[tokio::test(flavor = "multi_thread")]
async fn a_room_into_which_the_bot_lets_agents_is_upgraded() -> Result<()> {
    let mut kitchen = Kitchen::start("10", true).await?;
    let code = kitchen.code().await?;
    let guest = kitchen.enters("Guest", &code).await?;
    kitchen.talks_with(&guest, "the old kitchen").await?;
    let puppet = kitchen.ada.raw.member_named(&kitchen.id, &guest.display_name).await?;
    let (old, unread) = (kitchen.id.clone(), "not heard before it moves");
    let last = kitchen.world.human_says(&kitchen.ada, &old, unread).await?;

    kitchen.upgrade("12").await?;
    kitchen.invite(BOT).await?;
    for user in [BOT, &puppet] {
        kitchen.ada.see_member(&old, user, "leave").await?;
    }
    let moved = guest.until_in(&kitchen.id).await?;
    ensure!(moved["catalogId"] == kitchen.number.as_str(), "another number: {moved}");
    let guest = guest.turned_to(&kitchen.id);
    agent_reads(&guest, &last, unread).await?;
    kitchen.talks_with(&guest, "the new kitchen").await?;
    let history = guest.history("limit=50").await?;
    for words in ["asked about the old kitchen", unread, "answered about the new kitchen"] {
        ensure!(history.to_string().contains(words), "{words:?} is not in the history: {history}");
    }

    let late = kitchen.enters("Late", &code).await?;
    kitchen.talks_with(&late, "who came later").await?;
    reads_nothing_of(&late, &[(last, unread)]).await?;
    let list = kitchen.ask(&kitchen.ada, "agents").await?;
    ensure!([&guest, &late].iter().all(|agent| list.contains(&agent.display_name)), "{list}");
    kitchen.finish(&code).await
}

/// While the bot may not invite, nobody comes in; while an agent is muted, nothing of it is sent. Both end with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_takes_power_away_and_gives_it_back() -> Result<()> {
    let kitchen = Kitchen::start("12", true).await?;
    let code = kitchen.code().await?;
    let guest = kitchen.enters("Guest", &code).await?;
    kitchen.talks_with(&guest, "power").await?;

    kitchen.give_power(json!({BOT: 0})).await?;
    let told = kitchen.ask(&kitchen.ada, "info").await?;
    let body = json!({"name": "Second", "code": code});
    let refused = Agent::ask_to_join(&kitchen.world.stack.bridge.url(), &body).await?;
    refused.refusal(503, "dependency_unavailable").with_context(|| told)?;
    kitchen.give_power(json!({BOT: 50})).await?;
    kitchen.ask(&kitchen.ada, "info").await?;
    let second = kitchen.enters("Second", &code).await?;
    kitchen.talks_with(&second, "coming in").await?;

    let puppet = kitchen.ada.raw.member_named(&kitchen.id, &guest.display_name).await?;
    kitchen.give_power(json!({BOT: 50, puppet: -1})).await?;
    let words = "said once it may speak again";
    kitchen.world.note(words);
    let body = json!({"text": words, "roomId": kitchen.id, "submissionId": fresh_uuid()});
    guest.send(&body).await?.refusal(403, "forbidden")?;
    let asked = kitchen.world.human_says(&kitchen.ada, &kitchen.id, "can you hear me still").await?;
    agent_reads(&guest, &asked, "can you hear me still").await?;
    kitchen.give_power(json!({BOT: 50})).await?;
    let said = guest.send_until_sent(&body, 30).await?;
    person_reads(&kitchen.ada, &said, words).await?;
    agent_reads(&second, &said, words).await?;
    kitchen.talks_with(&guest, "power that is back").await?;
    kitchen.finish(&code).await
}

/// The room is gone from the agent's, and there again once it is invited anew.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_banned_and_forgiven() -> Result<()> {
    let world = World::start(Plan::default()).await?;
    let scout = world.stack.agent("Scout", None).await?;
    let ada = world.human("ada", Client::Js).await?;
    let lobby = ada.raw.join(&scout.room).await?;
    let puppet = ada.raw.member_named(&lobby, &scout.display_name).await?;
    let made =
        ada.obey("create_room", json!({"name": "Attic", "encrypted": true, "invite": [puppet]})).await?;
    let room = made["room"].as_str().unwrap_or_default().to_owned();
    let in_room = json!({"room": room, "user": puppet});
    scout.until_in(&room).await?;
    let scout = scout.turned_to(&room);
    let first = world.human_says(&ada, &room, "said before the ban").await?;
    agent_reads(&scout, &first, "said before the ban").await?;

    ada.obey("ban", in_room.clone()).await?;
    scout.until_out(&room).await?;
    scout.send(&json!({"text": "let me in", "roomId": room})).await?.refusal(404, "room_not_joined")?;
    let away = world.human_says(&ada, &room, "said while it was banned").await?;
    // said later, and heard: so it has caught up
    scout.hear(&ada.raw.say(&lobby, "back in the lobby").await?).await?;

    let unban = format!("/rooms/{}/unban", encode(&room));
    ada.raw.call(Method::POST, &unban, Some(&json!({"user_id": puppet}))).await?.expect(200)?;
    ada.obey("invite", in_room).await?;
    scout.until_in(&room).await?;
    ada.see_member(&room, &puppet, "join").await?;
    let back = world.human_says(&ada, &room, "said to who is back").await?;
    agent_reads(&scout, &back, "said to who is back").await?;
    reads_nothing_of(&scout, &[(away, "said while it was banned")]).await?;
    let thanks = world.agent_says(&scout, "good to be back").await?;
    person_reads(&ada, &thanks, "good to be back").await?;
    world.finish(&room, &[&ada]).await
}
