//! The bot in a room of another homeserver, and in an encrypted chat with one of its people.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Human, encode};
use reqwest::Method;
use serde_json::{Value, json};

use crate::common::{code_in, text};
use crate::world::{World, agent_reads, person_reads};
use crate::{accepts, sees_come};

/// Eve lets an agent in by a code, as people at home do. Gives the room.
pub(crate) async fn lets_agents_in_elsewhere(world: &World, eve: &Human) -> Result<String> {
    let bot = format!("@parlour:{}", world.stack.synapse.server_name());
    let cellar = cellar(eve, &bot).await?;
    let says = |e: &Value, what: &str| e["sender"] == bot.as_str() && text(&e["body"]).contains(what);
    eve.see("a greeting", |e| e["room"] == cellar.as_str() && says(e, "number is")).await?;
    eve.say(&cellar, "!agents code").await?;
    let invited = |e: &Value| e["kind"] == "my_membership" && e["membership"] == "invite" && e["by"] == bot;
    let chat = text(&eve.see("an invitation of the bot", invited).await?["room"]).to_owned();
    accepts(eve, &chat).await?;
    let code = |e: &Value| code_in(text(&e["body"])).filter(|_| e["room"] == chat.as_str());
    let letter = eve.see("a letter with the code", |e| code(e).is_some()).await?;
    person_reads(eve, text(&letter["eventId"]), text(&letter["body"])).await?;
    enters_and_talks(world, eve, &cellar, code(&letter).context("no code")?).await?;
    Ok(cellar)
}

/// A room where the bot may invite.
async fn cellar(eve: &Human, bot: &str) -> Result<String> {
    let made = eve.obey("create_room", json!({"name": "Cellar", "encrypted": true, "version": "12"})).await?;
    let cellar = text(&made["room"]).to_owned();
    let power = json!({"users": {bot: 50}, "invite": 50, "state_default": 50});
    let path = format!("/rooms/{}/state/m.room.power_levels/", encode(&cellar));
    eve.raw.call(Method::PUT, &path, Some(&power)).await?.expect(200)?;
    eve.obey("invite", json!({"room": cellar, "user": bot})).await?;
    Ok(cellar)
}

async fn enters_and_talks(world: &World, eve: &Human, cellar: &str, code: String) -> Result<()> {
    world.stack.keep_secret(&code);
    let body = json!({"name": "Cellarman", "code": code});
    let agent = Agent::join_with(&world.stack.bridge.url(), &body).await?;
    world.stack.keep_secret(&agent.token);
    ensure!(agent.room == cellar, "let into {}", agent.room);
    sees_come(eve, cellar, &agent).await?;
    let event_id = world.human_says(eve, cellar, "mind your head").await?;
    agent_reads(&agent, &event_id, "mind your head").await?;
    let event_id = world.agent_says(&agent, "too late for that").await?;
    person_reads(eve, &event_id, "too late for that").await.map(drop)
}
