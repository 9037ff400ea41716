//! A room of people with the bridge bot in it, as one of them sees it.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Client, Human, Plan, encode, until};
use reqwest::Method;
use serde_json::{Value, json};

use crate::common::{code_in, text};
use crate::world::{World, agent_reads, person_reads, reads_nothing_of};

pub(crate) const BOT: &str = "@parlour:hs.test";

/// Ada, who may do everything in the kitchen; Bob, who may only talk there; and the bot.
pub(crate) struct Kitchen {
    pub(crate) world: World,
    pub(crate) ada: Human,
    pub(crate) bob: Human,
    pub(crate) id: String,
    version: String,
    encrypted: bool,
    pub(crate) number: String,
    /// What was said to the bot and by it.
    heard: parking_lot::Mutex<Vec<(String, String)>>,
}

impl Kitchen {
    pub(crate) async fn start(version: &str, encrypted: bool) -> Result<Self> {
        let world = World::start(Plan::default()).await?;
        let (ada, bob) = (world.human("ada", Client::Js).await?, world.human("bob", Client::Js).await?);
        let made =
            json!({"name": "Kitchen", "encrypted": encrypted, "version": version, "invite": [bob.user_id]});
        let made = ada.obey("create_room", made).await?;
        let id = text(&made["room"]).to_owned();
        bob.accept(&id).await?;
        let (version, number, heard) = (version.to_owned(), String::new(), parking_lot::Mutex::default());
        let mut kitchen = Self { world, ada, bob, id, version, encrypted, number, heard };
        kitchen.give_power(json!({BOT: 50})).await?;
        kitchen.invite(BOT).await?;
        let greeting = kitchen.bot_says("can read what agents can read").await?;
        let number = text(&greeting["body"]).split("number is ").nth(1).context("no number")?;
        kitchen.number = number.split('.').next().unwrap_or_default().to_owned();
        Ok(kitchen)
    }

    /// Ada gives power to these, and to nobody else.
    pub(crate) async fn give_power(&self, mut users: Value) -> Result<()> {
        // a maker of version 12 stands above all levels, and is not named among them
        if self.version != "12" {
            users[&self.ada.user_id] = json!(100);
        }
        let power = json!({"users": users, "invite": 50, "state_default": 50, "events": {"m.room.name": 50}});
        let path = format!("/rooms/{}/state/m.room.power_levels/", encode(&self.id));
        self.ada.raw.call(Method::PUT, &path, Some(&power)).await?.expect(200).map(drop)
    }

    pub(crate) async fn invite(&self, user: &str) -> Result<()> {
        self.ada.obey("invite", json!({"room": self.id, "user": user})).await.map(drop)
    }

    /// Ada upgrades the room and is in the new one; the others have to be invited.
    pub(crate) async fn upgrade(&mut self, version: &str) -> Result<()> {
        let path = format!("/rooms/{}/upgrade", encode(&self.id));
        let body = json!({"new_version": version});
        let upgraded = self.ada.raw.call(Method::POST, &path, Some(&body)).await?.expect(200)?;
        self.id = text(&upgraded["replacement_room"]).to_owned();
        self.version = version.to_owned();
        self.ada.obey("join", json!({"room": self.id, "encrypted": self.encrypted})).await.map(drop)
    }

    /// The bot's next notice with these words, as Ada's client shows it.
    pub(crate) async fn bot_says(&self, part: &str) -> Result<Value> {
        let wanted = |e: &Value| {
            e["room"] == self.id.as_str()
                && e["sender"] == BOT
                && e["kind"] == "message"
                && text(&e["body"]).contains(part)
                && !self.was_heard(text(&e["eventId"]))
        };
        let said = self.ada.see(&format!("{part:?} from the bot"), wanted).await?;
        ensure!(said["msgtype"] == "m.notice", "no notice: {said}");
        if self.encrypted {
            person_reads(&self.ada, text(&said["eventId"]), text(&said["body"])).await?;
        }
        has_html(&said)?;
        self.hear(text(&said["eventId"]), text(&said["body"]));
        Ok(said)
    }

    /// Gives a command, and waits for the answer to it.
    pub(crate) async fn ask(&self, who: &Human, command: &str) -> Result<String> {
        let typed = format!("!agents {command}");
        let asked = who.say(&self.id, &typed).await?;
        self.answer(&asked, &typed).await
    }

    /// Ada gives a command as clients do that offer what the bot announces (MSC4391).
    pub(crate) async fn ask_in_form(&self, command: &str) -> Result<String> {
        let shown = format!("/{command}");
        let form = json!({"org.matrix.msc4391.command": {"command": command, "arguments": {}}});
        let asked = json!({"room": self.id, "text": shown, "mentions": [BOT], "more": form});
        let asked = self.ada.send(asked).await?;
        self.answer(&asked, &shown).await
    }

    /// Bob gives a command, and is told which power he lacks.
    pub(crate) async fn refuses_bob(&self, command: &str, power: &str) -> Result<()> {
        let refused = self.ask(&self.bob, command).await?;
        ensure!(refused.contains(&format!("takes the power to {power}")), "{command}: {refused}");
        Ok(())
    }

    async fn answer(&self, asked: &str, words: &str) -> Result<String> {
        let said = self.ada.see(&format!("an answer to {words:?}"), |e| answers(e, asked)).await?;
        ensure!(
            said["msgtype"] == "m.notice" && said["encrypted"] == self.encrypted,
            "an odd answer: {said}"
        );
        has_html(&said)?;
        self.hear(asked, words);
        self.hear(text(&said["eventId"]), text(&said["body"]));
        Ok(text(&said["body"]).to_owned())
    }

    /// Ada gives a command in her chat with the bot, where no prefix is needed.
    pub(crate) async fn ask_in_chat(&self, command: &str) -> Result<String> {
        let chat = self.chat().await?;
        let asked = self.ada.say(&chat, command).await?;
        let sent = self.as_sent(&chat, &asked).await?;
        ensure!(sent["type"] == "m.room.encrypted", "asked in clear: {sent}");
        let said = self.ada.see(&format!("an answer to {command:?}"), |e| answers(e, &asked)).await?;
        ensure!(said["room"] == chat.as_str() && said["msgtype"] == "m.notice", "an odd answer: {said}");
        has_html(&said)?;
        person_reads(&self.ada, text(&said["eventId"]), text(&said["body"])).await?;
        Ok(text(&said["body"]).to_owned())
    }

    /// Ada sends the bot away by this command, and sees it go.
    pub(crate) async fn send_away(&self, command: &str) -> Result<()> {
        let (begun, typed) = (self.ada.events().len(), format!("!agents {command}"));
        let asked = self.ada.say(&self.id, &typed).await?;
        self.hear(&asked, &typed);
        let goes = |e: &Value| {
            e["kind"] == "member"
                && e["room"] == self.id.as_str()
                && e["stateKey"] == BOT
                && e["content"]["membership"] == "leave"
        };
        let found = async || Ok(self.ada.events().into_iter().skip(begun).find(goes));
        until("the bot to go", 60, found).await.map(drop)
    }

    fn hear(&self, event_id: &str, words: &str) {
        self.heard.lock().push((event_id.to_owned(), words.to_owned()));
    }

    fn was_heard(&self, event_id: &str) -> bool {
        self.heard.lock().iter().any(|(id, _)| id == event_id)
    }

    /// An event as the homeserver has it.
    async fn as_sent(&self, room: &str, event_id: &str) -> Result<Value> {
        let path = format!("/rooms/{}/event/{}", encode(room), encode(event_id));
        self.ada.raw.call(Method::GET, &path, None).await?.expect(200)
    }

    /// The code, which Ada is told in a chat of her own with the bot.
    pub(crate) async fn code(&self) -> Result<String> {
        let answer = self.ask(&self.ada, "code").await?;
        ensure!(answer.contains("invited you to an encrypted chat"), "{answer}");
        let chat = self.chat().await?;
        self.ada.accept(&chat).await?;
        let create = self.ada.raw.state(&chat, "m.room.encryption").await?;
        ensure!(create["algorithm"] == "m.megolm.v1.aes-sha2", "not encrypted: {create}");
        self.letter("").await
    }

    /// The chat to which the bot has invited Ada.
    async fn chat(&self) -> Result<String> {
        let invited =
            |e: &Value| e["kind"] == "my_membership" && e["membership"] == "invite" && e["by"] == BOT;
        let invitation = self.ada.see("an invitation of the bot", invited).await?;
        Ok(text(&invitation["room"]).to_owned())
    }

    /// The code in a letter of the bot's, another than the one before.
    pub(crate) async fn letter(&self, before: &str) -> Result<String> {
        let news = |e: &Value| code_in(text(&e["body"])).filter(|code| code != before);
        let letter = |e: &Value| e["room"] != self.id.as_str() && e["sender"] == BOT && news(e).is_some();
        let letter = self.ada.see("the code", letter).await?;
        person_reads(&self.ada, text(&letter["eventId"]), text(&letter["body"])).await?;
        let code = news(&letter).context("no code")?;
        self.world.stack.keep_secret(&code);
        Ok(code)
    }

    /// A new agent that enters by this code.
    pub(crate) async fn enters(&self, name: &str, code: &str) -> Result<Agent> {
        let body = json!({"name": name, "code": code});
        let agent = Agent::join_with(&self.world.stack.bridge.url(), &body).await?;
        self.world.stack.keep_secret(&agent.token);
        ensure!(agent.room == self.id, "let into {}", agent.room);
        Ok(agent)
    }

    /// The agent knocks, and the room is shown it.
    pub(crate) async fn knock(&self, agent: &Agent) -> Result<String> {
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

    pub(crate) async fn press(&self, who: &Human, notice: &str, sign: &str) -> Result<()> {
        who.obey("react", json!({"room": self.id, "eventId": notice, "key": sign})).await.map(drop)
    }

    /// What the notice is changed to.
    pub(crate) async fn told(&self, notice: &str) -> Result<String> {
        let edit =
            |e: &Value| e["kind"] == "edit" && e["sender"] == BOT && e["relates"]["event_id"] == notice;
        let edit = self.ada.see("the notice edited", edit).await?;
        has_html(&edit)?;
        Ok(text(&edit["newBody"]).to_owned())
    }

    pub(crate) async fn is_in(&self, agent: &Agent) -> Result<Agent> {
        agent.until_in(&self.id).await?;
        Ok(agent.turned_to(&self.id))
    }

    pub(crate) async fn talks_with(&self, agent: &Agent, about: &str) -> Result<()> {
        let (asked, answered) = (format!("asked about {about}"), format!("answered about {about}"));
        let event_id = self.ada.say(&self.id, &asked).await?;
        agent_reads(agent, &event_id, &asked).await?;
        let event_id = agent.say_here(&answered).await?;
        let shown = self.ada.see_event(&event_id).await?;
        ensure!(shown["body"] == answered && shown["encrypted"] == self.encrypted, "{shown}");
        Ok(())
    }

    /// No word of the bot's, and none to it, is anywhere in what an agent is given.
    pub(crate) async fn nothing_reached(&self, agent: &Agent) -> Result<()> {
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

    /// The code is nowhere but in ciphertext; in an encrypted room neither puppets nor the bot said anything in clear.
    pub(crate) async fn finish(self, code: &str) -> Result<()> {
        let events = parlour_tests::stored(&self.world.stack.synapse, &self.id)?;
        for event in &events {
            ensure!(!event.to_string().contains(code), "the code is in {event}");
            let ours = text(&event["sender"]).starts_with("@agent_") || event["sender"] == BOT;
            let clear = ours && event["type"] == "m.room.message";
            ensure!(!(clear && self.encrypted), "in clear: {event}");
        }
        ensure!(events.iter().any(|e| e["sender"] == BOT), "the bot said nothing");
        for person in [&self.ada, &self.bob] {
            let told = |e: &Value| e["room"] == self.id.as_str() && code_in(text(&e["body"])).is_some();
            ensure!(!person.events().iter().any(told), "{} was told a code in the room", person.user_id);
        }
        self.world.stack.finish().await
    }
}

fn answers(e: &Value, asked: &str) -> bool {
    e["sender"] == BOT && e["relates"]["m.in_reply_to"]["event_id"] == asked
}

/// What the bot says comes in HTML too.
fn has_html(said: &Value) -> Result<()> {
    ensure!(said["format"] == "org.matrix.custom.html" && !text(&said["html"]).is_empty(), "no HTML: {said}");
    Ok(())
}
