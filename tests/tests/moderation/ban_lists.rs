//! A ban list of the operator's, in a lobby and in an encrypted room, while homeserver and bridge restart.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Client, Human, Person, Plan, SERVER_NAME, Stack, encode, until};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::common::{becomes, text};
use crate::world::{World, agent_reads, person_reads};

/// Ada writes the list; Eve comes onto it.
struct Story {
    world: World,
    list: String,
    ada: Human,
    eve: Human,
    scout: Agent,
}

impl Story {
    async fn start() -> Result<Self> {
        let plan = Plan { more: "[moderation]\nban_lists = ['#bans:hs.test']\n", ..Plan::default() };
        let world = World::on(Stack::prepare(plan).await?);
        let (ada, eve) = (world.human("ada", Client::Js).await?, world.human("eve", Client::Js).await?);
        let list = json!({"preset": "public_chat", "room_alias_name": "bans", "name": "Bans"});
        let list = ada.raw.create_room(&list).await?;
        says_check(&world.stack, "is there; the bot will join it")?;
        world.stack.bridge.start()?;
        world.stack.bridge.ready().await?;
        let scout = world.stack.agent("Scout", None).await?;
        Ok(Self { world, list, ada, eve, scout })
    }

    async fn set_rule(&self, content: &Value) -> Result<String> {
        let (kind, key) = ("m.policy.rule.user", format!("rule:{}", self.eve.user_id));
        let path = format!("/rooms/{}/state/{kind}/{}", encode(&self.list), encode(&key));
        let set = self.ada.raw.call(Method::PUT, &path, Some(content)).await?.expect(200)?;
        Ok(text(&set["event_id"]).to_owned())
    }

    async fn list_eve(&self) -> Result<String> {
        let rule = json!({"entity": self.eve.user_id, "recommendation": "m.ban", "reason": "spam"});
        self.set_rule(&rule).await
    }

    /// An encrypted room of Ada's with Eve and the agent.
    async fn encrypted_room(&self) -> Result<(String, Agent)> {
        let puppet = self.ada.raw.member_named(&self.scout.room, &self.scout.display_name).await?;
        let guests = [puppet.as_str(), self.eve.user_id.as_str()];
        let made =
            self.ada.obey("create_room", json!({"name": "Den", "encrypted": true, "invite": guests})).await?;
        let room = text(&made["room"]).to_owned();
        self.eve.accept(&room).await?;
        self.ada.see_member(&room, &puppet, "join").await?;
        self.ada.see_member(&room, &self.eve.user_id, "join").await?;
        Ok((room.clone(), self.scout.turned_to(&room)))
    }
}

/// The line on the list in what `parlour check` says; the bridge may run or not.
fn says_check(stack: &Stack, what: &str) -> Result<()> {
    let said = block_in_place(|| stack.bridge.command(&["check"]));
    let said = said.unwrap_or_else(|refused| refused.to_string());
    let line = format!("ok  moderation.ban_lists: #bans:{SERVER_NAME} {what}");
    ensure!(said.contains(&line), "not told: {line}\n{said}");
    Ok(())
}

async fn status_tells(stack: &Stack, what: &str) -> Result<()> {
    until(&format!("status to tell: {what}"), 60, async || {
        let said = stack.bridge.command_beside(&["status"]).await?;
        Ok(said.contains(what).then_some(()))
    })
    .await
}

/// Whether somebody may join.
async fn gets_into(person: &Person, room: &str) -> Result<bool> {
    let path = format!("/join/{}", encode(room));
    Ok(person.call(Method::POST, &path, Some(&json!({}))).await?.status == 200)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_listed_reaches_no_agent_until_taken_off() -> Result<()> {
    let story = Story::start().await?;
    let Story { world, ada, eve, scout, .. } = &story;
    for human in [ada, eve] {
        human.raw.join(&scout.room).await?;
    }
    let (den, inside) = story.encrypted_room().await?;
    let before = world.human_says(eve, &den, "before I was listed").await?;
    agent_reads(&inside, &before, "before I was listed").await?;

    story.list_eve().await?;
    let banned = becomes(&ada.raw, &scout.room, &eve.user_id, "ban").await?;
    ensure!(text(&banned["reason"]).contains("ban list"), "no reason: {banned}");
    status_tells(&world.stack, "1 of 1 read, 1 rules").await?;
    says_check(&world.stack, "is there, and the bot reads it")?;
    ensure!(!gets_into(&eve.raw, &scout.room).await?, "Eve is back in the lobby");
    let mut unheard = vec![unheard_in(&story, &den, "and now they tell you").await?];

    // the rule holds from the first moment, before the list has been read again
    block_in_place(|| world.stack.synapse.restart())?;
    world.stack.bridge.restart().await?;
    unheard.push(unheard_in(&story, &den, "after both restarted").await?);
    block_in_place(|| world.stack.synapse.restart())?;
    unheard.push(unheard_in(&story, &den, "after another restart").await?);
    invitations_are_declined(&story).await?;

    let rule = story.list_eve().await?;
    ada.raw.redact(&story.list, &rule).await?;
    becomes(&ada.raw, &scout.room, &eve.user_id, "leave").await?;
    eve.raw.join(&scout.room).await?;
    let back = world.human_says(eve, &den, "I am sorry for that").await?;
    agent_reads(&inside, &back, "I am sorry for that").await?;
    let answer = world.agent_says(&inside, "be welcome again").await?;
    person_reads(eve, &answer, "be welcome again").await?;
    let heard = inside.heard();
    let leaked = heard.iter().find(|m| unheard.iter().any(|id| m["eventId"] == id.as_str()));
    ensure!(leaked.is_none(), "an agent heard {leaked:?}");
    let found = inside.look_up(&unheard.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    ensure!(found["messages"] == json!([]), "looked up: {found}");
    let Story { world, ada, eve, .. } = story;
    world.finish(&den, &[&ada, &eve]).await
}

/// Eve speaks, then Ada: who has heard Ada has not heard Eve. Gives Eve's event id.
async fn unheard_in(story: &Story, den: &str, words: &str) -> Result<String> {
    let inside = story.scout.turned_to(den);
    let eves = story.world.human_says(&story.eve, den, &format!("Eve says {words}")).await?;
    let adas_words = format!("Ada says {words}");
    let adas = story.world.human_says(&story.ada, den, &adas_words).await?;
    agent_reads(&inside, &adas, &adas_words).await.context(words.to_owned())?;
    ensure!(inside.heard().iter().all(|m| m["eventId"] != eves.as_str()), "an agent heard Eve: {words}");
    Ok(eves)
}

async fn invitations_are_declined(story: &Story) -> Result<()> {
    let puppet = story.ada.raw.member_named(&story.scout.room, &story.scout.display_name).await?;
    let bot = format!("@parlour:{SERVER_NAME}");
    let lair = json!({"preset": "private_chat", "name": "Lair", "invite": [puppet, bot]});
    let lair = story.eve.raw.create_room(&lair).await?;
    for guest in [&puppet, &bot] {
        becomes(&story.eve.raw, &lair, guest, "leave").await?;
    }
    Ok(())
}
