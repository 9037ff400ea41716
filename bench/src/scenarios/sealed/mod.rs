//! Encrypted rooms: one is made the way an agent makes it, and a person with keys of its own is in it.
mod first;
mod lobby;
mod push;
mod restart;
mod send;
mod speak;

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::Agent,
    clock::pause,
    homeserver::encode,
    person::{DEVICE, Person},
    progress,
    pump::gather,
    stats::ratio,
    world::World,
};

/// Private joins at the same time: each makes keys, and joins of one room that overlap cost the homeserver more.
const JOINS_AT_ONCE: usize = 2;

/// A private room with its owner, a person in it, and the code that lets further agents in.
pub(crate) struct Den {
    pub(crate) owner: Agent,
    pub(crate) room: String,
    code: String,
    pub(crate) person: Person,
    /// Agents besides the owner.
    pub(crate) guests: Vec<Agent>,
}

/// What was measured before something failed is told all the same.
pub(super) async fn run(world: &mut World) -> Result<Value> {
    let mut block = json!({});
    if let Err(error) = measure(world, &mut block).await {
        block["error"] = json!(format!("{error:#}"));
    }
    Ok(block)
}

async fn measure(world: &mut World, block: &mut Value) -> Result<()> {
    world.need_agents(1).await?;
    let mut den = Den::make(world, "den").await?;
    block["send"] = send::run(world, &mut den).await?;
    block["one"] = speak::run(world, &mut den, 0).await?;
    block["ingest"] = push::ingest(world, &mut den).await?;
    block["first"] = first::run(world, &mut den).await?;
    let without_keys = push::answered(world, &den, false).await?;
    block["startWithFew"] = restart::run(world, &mut den).await?;
    let guests = world.sizes.sealed_fanout;
    den.fill(world, guests).await?;
    block["many"] = speak::run(world, &mut den, guests).await?;
    block["push"] = push::compare(&without_keys, &push::answered(world, &den, true).await?);
    block["firstAmongMany"] = first::run(world, &mut den).await?;
    let first_messages = [&block["firstAmongMany"]["firstMessage"], &block["first"]["firstMessage"]];
    block["firstMessageRatioP50"] = ratio(first_messages[0], first_messages[1], "p50");
    block["startWithMany"] = restart::run(world, &mut den).await?;
    block["perPuppet"] = restart::per_puppet(&block["startWithFew"], &block["startWithMany"]);
    // last: it brings in agents that are nobody's measure above
    block["lobby"] = lobby::run(world, &den).await?;
    Ok(())
}

impl Den {
    pub(crate) async fn make(world: &World, name: &str) -> Result<Self> {
        let lobby: Vec<String> = world.lobby.clone().into_iter().collect();
        let owner = world.join_agents(1, &lobby).await?.remove(0);
        let body = json!({"name": name});
        let made = world.api.call(Method::POST, "/me/private-rooms", Some(&owner), Some(&body)).await?.body;
        let field = |value: &Value| value.as_str().map(str::to_owned).context("an answer without a field");
        let (room, code) = (field(&made["room"]["matrixRoomId"])?, field(&made["code"]["code"])?);
        let person = Person::new(&world.hs, &format!("{}{name}", world.tag)).await?;
        let invite = format!("/me/private-rooms/{}/invitations", encode(&room));
        world.api.call(Method::POST, &invite, Some(&owner), Some(&json!({"accountId": person.user}))).await?;
        world.hs.join(&room, &person.user).await?;
        // the bridge hears of the join and prepares the room
        pause(2000).await;
        let owner = Agent { room: room.clone(), ..owner };
        Ok(Self { owner, room, code, person, guests: vec![] })
    }

    /// Lets agents in until there are so many besides the owner, and gives them the person's key.
    pub(crate) async fn fill(&mut self, world: &World, n: usize) -> Result<()> {
        let missing = n.saturating_sub(self.guests.len());
        progress(format_args!("sealed: {missing} agents join the encrypted room ..."));
        let (new, pumped) =
            gather(missing, JOINS_AT_ONCE, async |i| self.enter(world, &format!("Den {i}")).await).await;
        anyhow::ensure!(pumped.failed == 0, "{} private joins failed", pumped.failed);
        self.guests.extend(new);
        self.person.share(&world.hs, &self.room).await?;
        // what was pushed for them is worked off
        pause(2000).await;
        Ok(())
    }

    pub(crate) async fn enter(&self, world: &World, name: &str) -> Result<Agent> {
        world.api.join_by_code(name, &self.code).await
    }

    /// The person's message, encrypted before the clock starts.
    pub(crate) async fn put_sealed(&self, world: &World, content: &Value) -> Result<()> {
        world.hs.put_sealed((&self.person.user, None), &self.room, content).await
    }

    /// The same in the name of the person's device, as whoever encrypts sends it.
    pub(crate) async fn put_sealed_from_device(&self, world: &World, content: &Value) -> Result<()> {
        world.hs.put_sealed((&self.person.user, Some(DEVICE)), &self.room, content).await
    }
}
