//! A ban list of the operator's names another homeserver: its people reach no agent and are put out, until the rule is
//! taken off.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Client, Human, Person, Plan, Stack, encode};
use reqwest::Method;
use serde_json::{Value, json};

use crate::common::{becomes, text};
use crate::world::{Room, World, agent_reads, person_reads};
use crate::{alias, human_elsewhere, invite};

/// Ada is at home and writes the list, Eve is elsewhere. Both are in the lobby, in an agent's room and in a room of people.
struct Story {
    world: World,
    list: String,
    ada: Human,
    eve: Human,
    owner: Agent,
    lobby: String,
    room: Room,
    square: String,
}

impl Story {
    async fn start() -> Result<Self> {
        let more = "invites = 'anyone'\ninvitable = 'anyone'\n[moderation]\nban_lists = ['#bans:{home}']\n";
        let world = World::on(Stack::prepare(Plan { elsewhere: true, more, ..Plan::default() }).await?);
        let ada = world.human("ada", Client::Js).await?;
        let list = json!({"preset": "public_chat", "room_alias_name": "bans", "name": "Bans"});
        let list = ada.raw.create_room(&list).await?;
        world.stack.bridge.start()?;
        world.stack.bridge.ready().await?;
        let (owner, room) = world.owner().await?;
        let eve = human_elsewhere(&world.stack, "eve").await?;
        world.invite(&owner, &room, &ada).await?;
        invite(&owner, &room, &eve).await?;
        let lobby = ada.raw.join(&alias(&world.stack, "lobby")).await?;
        let square = square(&ada.raw, &lobby, &owner).await?;
        for place in ["lobby", "square"] {
            eve.raw.join(&alias(&world.stack, place)).await?;
        }
        Ok(Self { world, list, ada, eve, owner, lobby, room, square })
    }

    /// The whole server is named, without its port.
    async fn list_server(&self) -> Result<()> {
        let server = self.eve.user_id.split(':').nth(1).context("no server")?;
        self.set_rule(&json!({"entity": server, "recommendation": "m.ban", "reason": "spam"})).await
    }

    async fn set_rule(&self, content: &Value) -> Result<()> {
        let path = format!("/rooms/{}/state/m.policy.rule.server/elsewhere", encode(&self.list));
        self.ada.raw.call(Method::PUT, &path, Some(content)).await?.expect(200).map(drop)
    }

    /// Wherever the bridge keeps order.
    async fn eve_becomes(&self, membership: &str) -> Result<()> {
        for place in [&self.lobby, &self.room.id] {
            becomes(&self.ada.raw, place, &self.eve.user_id, membership).await.context(place.clone())?;
        }
        Ok(())
    }

    /// Eve speaks in the room of people, where she stays, then Ada: who has heard Ada has not heard Eve.
    async fn eve_is_unheard(&self) -> Result<String> {
        let eves = self.eve.raw.say(&self.square, "Eve still talks").await?;
        self.ada.see_event(&eves).await?;
        let adas = self.ada.raw.say(&self.square, "Ada goes on").await?;
        self.owner.hear(&adas).await?;
        ensure!(self.owner.heard().iter().all(|m| m["eventId"] != eves.as_str()), "an agent heard Eve");
        Ok(eves)
    }

    async fn those_at_home_go_on(&self) -> Result<()> {
        let event_id = self.world.human_says(&self.ada, &self.room.id, "it is quiet now").await?;
        agent_reads(&self.owner, &event_id, "it is quiet now").await?;
        let event_id = self.world.agent_says(&self.owner, "so it is").await?;
        person_reads(&self.ada, &event_id, "so it is").await.map(drop)
    }

    async fn invitation(&self, whom: &str) -> Result<parlour_tests::Answer> {
        let path = format!("/me/private-rooms/{}/invitations", self.room.number);
        self.owner.call(Method::POST, &path, Some(&json!({"accountId": whom}))).await
    }
}

/// A public room of people, with the agent.
async fn square(ada: &Person, lobby: &str, agent: &Agent) -> Result<String> {
    let puppet = ada.member_named(lobby, &agent.display_name).await?;
    let square = json!({"preset": "public_chat", "room_alias_name": "square", "invite": [puppet]});
    let square = ada.create_room(&square).await?;
    agent.until_in(&square).await?;
    Ok(square)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listed_server_is_unheard_until_taken_off() -> Result<()> {
    let story = Story::start().await?;
    let Story { world, ada, eve, owner, room, .. } = &story;
    let before = world.human_says(eve, &room.id, "before we were listed").await?;
    agent_reads(owner, &before, "before we were listed").await?;
    for place in [&story.lobby, &story.square] {
        owner.hear(&eve.raw.say(place, "hello from elsewhere").await?).await?;
    }

    story.list_server().await?;
    story.eve_becomes("ban").await?;
    let unheard = story.eve_is_unheard().await?;
    story.those_at_home_go_on().await?;
    nobody_of_theirs_gets_in(&story).await?;

    story.set_rule(&json!({})).await?;
    story.eve_becomes("leave").await?;
    eve.raw.join(&alias(&world.stack, "lobby")).await?;
    story.invitation(&eve.user_id).await?.expect(204)?;
    becomes(&ada.raw, &room.id, &eve.user_id, "invite").await?;
    eve.obey("join", json!({"room": room.id})).await?;
    let back = world.human_says(eve, &room.id, "we mean no harm").await?;
    agent_reads(owner, &back, "we mean no harm").await?;
    let answer = world.agent_says(owner, "be welcome again").await?;
    person_reads(eve, &answer, "be welcome again").await?;
    for place in [&story.lobby, &story.square] {
        owner.hear(&eve.raw.say(place, "hello once more").await?).await?;
    }
    ensure!(owner.heard().iter().all(|m| m["eventId"] != unheard.as_str()), "an agent heard Eve");
    let found = owner.look_up(&[&unheard]).await?;
    ensure!(found["messages"] == json!([]), "looked up: {found}");
    let Story { world, ada, eve, room, .. } = story;
    world.finish(&room.id, &[&ada, &eve]).await
}

/// Somebody of that server whom nobody knew: banned where they come, neither invited nor followed.
async fn nobody_of_theirs_gets_in(story: &Story) -> Result<()> {
    let mallory = Person::register(story.world.stack.elsewhere()?, "mallory")?;
    story.invitation(&mallory.user_id).await?.refusal(403, "forbidden")?;
    mallory.join(&alias(&story.world.stack, "lobby")).await?;
    let banned = becomes(&story.ada.raw, &story.lobby, &mallory.user_id, "ban").await?;
    ensure!(text(&banned["reason"]).contains("ban list"), "no reason: {banned}");
    let puppet = story.ada.raw.member_named(&story.lobby, &story.owner.display_name).await?;
    let lair = json!({"preset": "private_chat", "name": "Lair", "invite": [puppet]});
    let lair = mallory.create_room(&lair).await?;
    becomes(&mallory, &lair, &puppet, "leave").await.map(drop)
}
