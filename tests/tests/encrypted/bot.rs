//! People manage agents through the bridge bot, from an ordinary client, where all is encrypted and where nothing is.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Client, Human, Plan, encode, until};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::common::text;
use crate::world::{World, agent_reads, person_reads, reads_nothing_of, signed_device};

const BOT: &str = "@parlour:hs.test";

/// Ada, who may do everything in the kitchen; Bob, who may only talk there; and the bot.
struct Kitchen {
    world: World,
    ada: Human,
    bob: Human,
    id: String,
    encrypted: bool,
    number: String,
    /// What was said to the bot and by it.
    heard: parking_lot::Mutex<Vec<(String, String)>>,
}

impl Kitchen {
    async fn start(version: &str, encrypted: bool) -> Result<Self> {
        let world = World::start(Plan::default()).await?;
        let (ada, bob) = (world.human("ada", Client::Js).await?, world.human("bob", Client::Js).await?);
        let made =
            json!({"name": "Kitchen", "encrypted": encrypted, "version": version, "invite": [bob.user_id]});
        let made = ada.obey("create_room", made).await?;
        let id = text(&made["room"]).to_owned();
        bob.accept(&id).await?;
        let mut users = json!({BOT: 50});
        if version != "12" {
            users[&ada.user_id] = json!(100);
        }
        let power = json!({"users": users, "invite": 50, "state_default": 50, "events": {"m.room.name": 50}});
        let path = format!("/rooms/{}/state/m.room.power_levels/", encode(&id));
        ada.raw.call(Method::PUT, &path, Some(&power)).await?.expect(200)?;
        ada.obey("invite", json!({"room": id, "user": BOT})).await?;
        let heard = parking_lot::Mutex::default();
        let mut kitchen = Self { world, ada, bob, id, encrypted, number: String::new(), heard };
        let greeting = kitchen.bot_says("can read what agents can read").await?;
        let number = text(&greeting["body"]).split("number is ").nth(1).context("no number")?;
        kitchen.number = number.split('.').next().unwrap_or_default().to_owned();
        Ok(kitchen)
    }

    /// The bot's notice with these words, as Ada's client shows it.
    async fn bot_says(&self, part: &str) -> Result<Value> {
        let wanted = |e: &Value| {
            e["room"] == self.id.as_str()
                && e["sender"] == BOT
                && e["kind"] == "message"
                && text(&e["body"]).contains(part)
        };
        let said = self.ada.see(&format!("{part:?} from the bot"), wanted).await?;
        ensure!(said["msgtype"] == "m.notice", "no notice: {said}");
        if self.encrypted {
            person_reads(&self.ada, text(&said["eventId"]), text(&said["body"])).await?;
        }
        self.heard.lock().push((text(&said["eventId"]).to_owned(), text(&said["body"]).to_owned()));
        Ok(said)
    }

    /// Gives a command, and waits for the answer to it.
    async fn ask(&self, who: &Human, command: &str) -> Result<String> {
        let event_id = who.say(&self.id, &format!("!agents {command}")).await?;
        let answer =
            |e: &Value| e["sender"] == BOT && e["relates"]["m.in_reply_to"]["event_id"] == event_id.as_str();
        let said = self.ada.see(&format!("an answer to {command:?}"), answer).await?;
        ensure!(
            said["msgtype"] == "m.notice" && said["encrypted"] == self.encrypted,
            "an odd answer: {said}"
        );
        let mut heard = self.heard.lock();
        heard.push((event_id, format!("!agents {command}")));
        heard.push((text(&said["eventId"]).to_owned(), text(&said["body"]).to_owned()));
        Ok(text(&said["body"]).to_owned())
    }

    /// The code, which Ada is told in a chat of her own with the bot.
    async fn code(&self) -> Result<String> {
        let answer = self.ask(&self.ada, "code").await?;
        ensure!(answer.contains("invited you to an encrypted chat"), "{answer}");
        let invited =
            |e: &Value| e["kind"] == "my_membership" && e["membership"] == "invite" && e["by"] == BOT;
        let invitation = self.ada.see("an invitation of the bot", invited).await?;
        let chat = text(&invitation["room"]).to_owned();
        self.ada.accept(&chat).await?;
        let create = self.ada.raw.state(&chat, "m.room.encryption").await?;
        ensure!(create["algorithm"] == "m.megolm.v1.aes-sha2", "not encrypted: {create}");
        self.letter("").await
    }

    /// The code in a letter of the bot's, another than the one before.
    async fn letter(&self, before: &str) -> Result<String> {
        let news = |e: &Value| code_in(text(&e["body"])).filter(|code| code != before);
        let letter = |e: &Value| e["room"] != self.id.as_str() && e["sender"] == BOT && news(e).is_some();
        let letter = self.ada.see("the code", letter).await?;
        person_reads(&self.ada, text(&letter["eventId"]), text(&letter["body"])).await?;
        let code = news(&letter).context("no code")?;
        self.world.stack.keep_secret(&code);
        Ok(code)
    }

    async fn opens(&self, code: &str, opens: bool) -> Result<()> {
        let body = json!({"name": "Visitor", "code": code});
        match Agent::join_with(&self.world.stack.bridge.url(), &body).await {
            Ok(visitor) => {
                self.world.stack.keep_secret(&visitor.token);
                ensure!(opens && visitor.room == self.id, "a code that is void opens {}", visitor.room);
            }
            Err(error) => ensure!(!opens && format!("{error:#}").contains("code_invalid"), "{error:#}"),
        }
        Ok(())
    }

    async fn restart_synapse(&self) -> Result<()> {
        block_in_place(|| self.world.stack.synapse.restart())
    }

    /// The agent knocks, and the room is shown it.
    async fn knock(&self, agent: &Agent) -> Result<String> {
        let body = json!({"room": self.number});
        let knock = agent.call(Method::POST, "/me/rooms", Some(&body)).await?.expect(202)?;
        ensure!(knock["knock"]["status"] == "waiting", "{knock}");
        let said = self.bot_says(&format!("{}, an AI agent, asks to be let in", agent.display_name)).await?;
        let id = text(&said["eventId"]).to_owned();
        for sign in ["✅", "❌"] {
            let beside = |e: &Value| {
                e["kind"] == "reaction"
                    && e["relates"]["event_id"] == id.as_str()
                    && e["relates"]["key"] == sign
            };
            self.ada.see(&format!("{sign} to press"), beside).await?;
        }
        Ok(id)
    }

    async fn press(&self, who: &Human, notice: &str, sign: &str) -> Result<()> {
        who.obey("react", json!({"room": self.id, "eventId": notice, "key": sign})).await.map(drop)
    }

    /// What the notice is changed to.
    async fn told(&self, notice: &str) -> Result<String> {
        let edit =
            |e: &Value| e["kind"] == "edit" && e["sender"] == BOT && e["relates"]["event_id"] == notice;
        let edit = self.ada.see("the notice edited", edit).await?;
        Ok(text(&edit["newBody"]).to_owned())
    }

    async fn is_in(&self, agent: &Agent) -> Result<Agent> {
        until("the room to be among the agent's", 60, async || {
            let me = agent.get("/me").await?.expect(200)?;
            let mut rooms = me["rooms"].as_array().into_iter().flatten();
            Ok(rooms.any(|r| r["matrixRoomId"] == self.id.as_str()).then_some(()))
        })
        .await?;
        Ok(agent.turned_to(&self.id))
    }

    async fn talks_with(&self, agent: &Agent, about: &str) -> Result<()> {
        let (asked, answered) = (format!("asked about {about}"), format!("answered about {about}"));
        let event_id = self.ada.say(&self.id, &asked).await?;
        agent_reads(agent, &event_id, &asked).await?;
        let event_id = agent.say_here(&answered).await?;
        let shown = self.ada.see_event(&event_id).await?;
        ensure!(shown["body"] == answered && shown["encrypted"] == self.encrypted, "{shown}");
        Ok(())
    }

    /// No word of the bot's, and none to it, is anywhere in what an agent is given.
    async fn nothing_reached(&self, agent: &Agent) -> Result<()> {
        let heard = self.heard.lock().clone();
        let hidden: Vec<(String, &str)> =
            heard.iter().map(|(id, words)| (id.clone(), words.as_str())).collect();
        for some in hidden.chunks(20) {
            reads_nothing_of(agent, some).await?;
        }
        let own = agent.heard();
        ensure!(own.iter().all(|m| m["actor"]["matrixUserId"] != BOT), "the bot in an inbox: {own:?}");
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_and_somebody_without_power_in_an_encrypted_room_of_version_10() -> Result<()> {
    a_day_in_the_kitchen("10", true).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_and_somebody_without_power_in_a_plain_room_of_version_12() -> Result<()> {
    a_day_in_the_kitchen("12", false).await
}

async fn a_day_in_the_kitchen(version: &str, encrypted: bool) -> Result<()> {
    let kitchen = Kitchen::start(version, encrypted).await?;
    let (ada, bob) = (&kitchen.ada, &kitchen.bob);
    let described = "org.matrix.msc4391.command_description";
    let announced = |e: &Value| {
        e["kind"] == "state" && e["evType"] == described && e["content"]["command"] == "agents admit"
    };
    ada.see("the commands announced", announced).await?;

    // by code
    let refused = kitchen.ask(bob, "code").await?;
    ensure!(refused.contains("takes the power to invite"), "{refused}");
    let code = kitchen.code().await?;
    signed_device(ada, BOT).await?;
    let body = json!({"name": "Guest", "code": code});
    let guest = Agent::join_with(&kitchen.world.stack.bridge.url(), &body).await?;
    kitchen.world.stack.keep_secret(&guest.token);
    ensure!(guest.room == kitchen.id, "let into {}", guest.room);
    kitchen.talks_with(&guest, "the code").await?;
    codes_change(&kitchen, &code).await?;
    kitchen.restart_synapse().await?;

    // at the door: only a manager's press counts
    let scout = kitchen.world.stack.agent("Scout", None).await?;
    let notice = kitchen.knock(&scout).await?;
    kitchen.press(bob, &notice, "✅").await?;
    let waiting = kitchen.ask(bob, "info").await?;
    ensure!(waiting.contains("waiting to be let in: 1"), "somebody without power let it in: {waiting}");
    kitchen.world.stack.bridge.restart().await?;
    kitchen.press(ada, &notice, "✅").await?;
    let told = kitchen.told(&notice).await?;
    ensure!(told.contains("was let in by ada"), "{told}");
    let scout = kitchen.is_in(&scout).await?;
    kitchen.talks_with(&scout, "the door").await?;
    kitchen.restart_synapse().await?;

    let shy = kitchen.world.stack.agent("Shy", None).await?;
    let notice = kitchen.knock(&shy).await?;
    let answer = kitchen.ask(ada, "decline Shy").await?;
    ensure!(answer.contains("was turned away"), "{answer}");
    let told = kitchen.told(&notice).await?;
    ensure!(told.contains("was turned away by ada"), "{told}");
    let bold = kitchen.world.stack.agent("Bold", None).await?;
    let notice = kitchen.knock(&bold).await?;
    kitchen.press(ada, &notice, "❌").await?;
    let told = kitchen.told(&notice).await?;
    ensure!(told.contains("was turned away by ada"), "{told}");

    // and out again
    let refused = kitchen.ask(bob, "remove Guest").await?;
    ensure!(refused.contains("takes the power to remove"), "{refused}");
    let out = kitchen.ask(ada, &format!("remove {}", guest.display_name.to_lowercase())).await?;
    ensure!(out.contains("is out"), "{out}");
    let list = kitchen.ask(bob, "agents").await?;
    ensure!(list.contains(&scout.display_name) && !list.contains(&guest.display_name), "{list}");
    kitchen.talks_with(&scout, "the end").await?;
    kitchen.nothing_reached(&scout).await?;
    ada.say(&kitchen.id, "!agents off").await?;
    ada.see_member(&kitchen.id, BOT, "leave").await?;
    finish(kitchen, &code).await
}

/// A new code shuts the old one out, and without any there is only the door.
async fn codes_change(kitchen: &Kitchen, old: &str) -> Result<()> {
    let answer = kitchen.ask(&kitchen.ada, "code new").await?;
    ensure!(answer.contains("a new Agent code") && answer.contains("our direct chat"), "{answer}");
    let new = kitchen.letter(old).await?;
    kitchen.opens(old, false).await?;
    kitchen.opens(&new, true).await?;
    let answer = kitchen.ask(&kitchen.ada, "code off").await?;
    ensure!(answer.contains("The Agent code is off"), "{answer}");
    kitchen.opens(&new, false).await
}

fn code_in(words: &str) -> Option<String> {
    let mut words = words.split_whitespace().map(|w| w.trim_matches([',', '.', ';', ':']));
    words.find(|w| w.len() == 14 && w.matches('-').count() == 2).map(str::to_owned)
}

/// The code is nowhere but in ciphertext; in an encrypted room neither puppets nor the bot said anything in clear.
async fn finish(kitchen: Kitchen, code: &str) -> Result<()> {
    let events = parlour_tests::stored(&kitchen.world.stack.synapse, &kitchen.id)?;
    for event in &events {
        ensure!(!event.to_string().contains(code), "the code is in {event}");
        let ours = text(&event["sender"]).starts_with("@agent_") || event["sender"] == BOT;
        let clear = ours && event["type"] == "m.room.message";
        ensure!(!(clear && kitchen.encrypted), "in clear: {event}");
    }
    ensure!(events.iter().any(|e| e["sender"] == BOT), "the bot said nothing");
    kitchen.world.stack.finish().await
}

/// Killed as soon as it has joined, as often as it takes to greet: the room is greeted once.
#[tokio::test(flavor = "multi_thread")]
async fn killed_between_join_and_greeting() -> Result<()> {
    let world = World::start(Plan::default()).await?;
    let ada = world.human("ada", Client::Js).await?;
    for round in 0..4 {
        let made = json!({"name": "Hall", "encrypted": round % 2 == 0, "invite": [BOT]});
        let made = ada.obey("create_room", made).await?;
        let room = text(&made["room"]).to_owned();
        ada.see_member(&room, BOT, "join").await?;
        world.stack.bridge.kill()?;
        world.stack.bridge.start()?;
        world.stack.bridge.ready().await?;
        let of_bot = |e: &Value| e["room"] == room.as_str() && e["sender"] == BOT && e["kind"] == "message";
        ada.see("a greeting", of_bot).await?;
        let asked = ada.say(&room, "!agents info").await?;
        let answer = |e: &Value| of_bot(e) && e["relates"]["m.in_reply_to"]["event_id"] == asked.as_str();
        ada.see("an answer", answer).await?;
        let said = ada.events().iter().filter(|e| of_bot(e)).count();
        ensure!(said == 2, "a greeting and an answer are two, not {said}");
    }
    world.stack.finish().await
}
