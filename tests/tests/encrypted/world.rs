//! An agent with a room of its own, an agent that came by its code, a person who was invited; and what holds for all that
//! they say.

use anyhow::{Context, Result, ensure};
use parking_lot::Mutex;
use parlour_tests::{Agent, Client, Human, Plan, Stack, encode, stored};
use reqwest::Method;
use serde_json::{Value, json};

use crate::common::text;

/// A stack, and everything that was said in its encrypted rooms.
pub(crate) struct World {
    pub(crate) stack: Stack,
    words: Mutex<Vec<String>>,
}

/// An agent's private room.
#[derive(Clone)]
pub(crate) struct Room {
    pub(crate) id: String,
    pub(crate) number: String,
    pub(crate) code: String,
}

impl World {
    pub(crate) async fn start(plan: Plan) -> Result<Self> {
        Ok(Self::on(Stack::start(plan).await?))
    }

    /// On a stack that runs, or will.
    pub(crate) fn on(stack: Stack) -> Self {
        Self { stack, words: Mutex::default() }
    }

    /// An agent that has made a room, turned to it.
    pub(crate) async fn owner(&self) -> Result<(Agent, Room)> {
        let owner = self.stack.agent("Owner", None).await?;
        let made = owner.call(Method::POST, "/me/private-rooms", Some(&json!({"name": "Workshop"}))).await?;
        let made = made.expect(201)?;
        let part =
            |value: &Value| value.as_str().map(str::to_owned).with_context(|| format!("not whole: {made}"));
        let room = Room {
            id: part(&made["room"]["matrixRoomId"])?,
            number: part(&made["room"]["catalogId"])?,
            code: part(&made["code"]["code"])?,
        };
        self.stack.keep_secret(&room.code);
        Ok((owner.turned_to(&room.id), room))
    }

    /// A new agent that enters by the room's code.
    pub(crate) async fn guest(&self, name: &str, room: &Room) -> Result<Agent> {
        let body = json!({"name": name, "code": room.code});
        let guest = Agent::join_with(&self.stack.bridge.url(), &body).await?;
        self.stack.keep_secret(&guest.token);
        ensure!(guest.room == room.id, "let into {} instead of {}", guest.room, room.id);
        Ok(guest)
    }

    pub(crate) async fn human(&self, localpart: &str, client: Client) -> Result<Human> {
        Human::register(&self.stack.synapse, self.stack.folder(), localpart, client).await
    }

    /// Invites by Matrix id and waits until it is accepted.
    pub(crate) async fn invite(&self, owner: &Agent, room: &Room, human: &Human) -> Result<()> {
        let path = format!("/me/private-rooms/{}/invitations", room.number);
        owner.call(Method::POST, &path, Some(&json!({"accountId": human.user_id}))).await?.expect(204)?;
        human.accept(&room.id).await.map(drop)
    }

    /// An agent speaks in the room that it is turned to.
    pub(crate) async fn agent_says(&self, agent: &Agent, words: &str) -> Result<String> {
        self.note(words);
        agent.say_here(words).await.with_context(|| format!("{} says {words:?}", agent.display_name))
    }

    pub(crate) async fn human_says(&self, human: &Human, room: &str, words: &str) -> Result<String> {
        self.note(words);
        human.say(room, words).await
    }

    /// Counts as said: it must be nowhere in clear, neither in the room nor in the bridge's log.
    pub(crate) fn note(&self, words: &str) {
        assert!(words.contains(' '), "{words:?} could be in a ciphertext by chance");
        self.stack.keep_secret(words);
        self.words.lock().push(words.to_owned());
    }

    /// No word of what was said anywhere in the room but inside ciphertext, and nobody saw an undecryptable message.
    pub(crate) async fn finish(self, room: &str, humans: &[&Human]) -> Result<()> {
        humans.iter().try_for_each(|human| saw_nothing_odd(human))?;
        self.nothing_in_clear(room)?;
        self.stack.finish().await
    }

    /// No word of what was said in this room in clear, as the homeserver has it.
    pub(crate) fn nothing_in_clear(&self, room: &str) -> Result<()> {
        let events = stored(&self.stack.synapse, room)?;
        let puppets = || events.iter().filter(|e| text(&e["sender"]).starts_with("@agent_"));
        let clear: Vec<_> = puppets().filter(|e| e["type"] == "m.room.message").collect();
        ensure!(clear.is_empty(), "agents spoke in clear: {clear:?}");
        ensure!(puppets().any(|e| e["type"] == "m.room.encrypted"), "no agent said anything");
        let words = self.words.lock();
        for event in &events {
            let whole = event.to_string();
            let leaked = words.iter().find(|words| whole.contains(words.as_str()));
            ensure!(leaked.is_none(), "{leaked:?} is in clear in {event}");
        }
        Ok(())
    }
}

/// What was said before a device was there is not for it; clients call that historical.
pub(crate) fn saw_nothing_odd(human: &Human) -> Result<()> {
    let odd = |e: &Value| e["kind"] == "undecryptable" && !text(&e["failure"]).starts_with("HISTORICAL_");
    let odd: Vec<_> = human.events().into_iter().filter(odd).collect();
    ensure!(odd.is_empty(), "{} could not read at first: {odd:?}", human.user_id);
    Ok(())
}

/// The most common beginning: all three are in the room and have nothing unread.
pub(crate) struct Trio {
    pub(crate) world: World,
    pub(crate) room: Room,
    pub(crate) owner: Agent,
    pub(crate) guest: Agent,
    pub(crate) ada: Human,
}

impl Trio {
    pub(crate) async fn start(plan: Plan) -> Result<Self> {
        Self::with(plan, Client::Js, false).await
    }

    /// `strict`: the person gives keys only to devices that their owners signed, and reads only from such.
    pub(crate) async fn with(plan: Plan, client: Client, strict: bool) -> Result<Self> {
        let world = World::start(plan).await?;
        let (owner, room) = world.owner().await?;
        let guest = world.guest("Guest", &room).await?;
        let ada = world.human("ada", client).await?;
        if strict {
            ada.obey("isolation", json!({"strict": true})).await?;
        }
        world.invite(&owner, &room, &ada).await?;
        Ok(Self { world, room, owner, guest, ada })
    }

    pub(crate) fn agents(&self) -> [&Agent; 2] {
        [&self.owner, &self.guest]
    }

    /// The person speaks and both agents read it; the agents speak and everybody reads it.
    pub(crate) async fn all_talk(&self, about: &str) -> Result<()> {
        self.human_talks(&self.ada, &format!("person about {about}")).await?;
        for agent in self.agents() {
            let words = format!("{} about {about}", agent.display_name);
            let event_id = self.world.agent_says(agent, &words).await?;
            person_reads(&self.ada, &event_id, &words).await?;
            let other =
                self.agents().into_iter().find(|a| a.agent_id != agent.agent_id).context("nobody else")?;
            agent_reads(other, &event_id, &words).await?;
        }
        Ok(())
    }

    /// A person speaks and both agents read it.
    pub(crate) async fn human_talks(&self, human: &Human, words: &str) -> Result<String> {
        let event_id = self.world.human_says(human, &self.room.id, words).await?;
        for agent in self.agents() {
            let message = agent_reads(agent, &event_id, words).await?;
            let actor = &message["actor"];
            ensure!(actor["kind"] == "human" && actor["matrixUserId"] == human.user_id, "by whom? {message}");
        }
        Ok(event_id)
    }

    /// The Matrix id of an agent of the room.
    pub(crate) async fn puppet(&self, agent: &Agent) -> Result<String> {
        self.ada.raw.member_named(&self.room.id, &agent.display_name).await
    }

    /// The owner removes the guest, and the person sees it go.
    pub(crate) async fn guest_goes(&self) -> Result<()> {
        let puppet = self.puppet(&self.guest).await?;
        let path = format!("/me/private-rooms/{}/agents/{}", self.room.number, self.guest.agent_id);
        self.owner.call(Method::DELETE, &path, None).await?.expect(204)?;
        self.ada.see_member(&self.room.id, &puppet, "leave").await.map(drop)
    }

    /// The guest comes back with a code that was made since.
    pub(crate) async fn guest_comes_back(&self) -> Result<()> {
        let path = format!("/me/private-rooms/{}/code", self.room.number);
        let made = self.owner.call(Method::PUT, &path, None).await?.expect(200)?;
        let code = made["code"]["code"].as_str().context("no code")?;
        self.world.stack.keep_secret(code);
        let body = json!({"code": code});
        self.guest.call(Method::POST, "/me/rooms", Some(&body)).await?.expect(200).map(drop)
    }

    pub(crate) async fn finish(self) -> Result<()> {
        let Self { world, room, owner, guest, ada } = self;
        for agent in [owner, guest] {
            ensure!(agent.gaps().is_empty(), "{} has gaps: {:?}", agent.display_name, agent.gaps());
        }
        world.finish(&room.id, &[&ada]).await
    }
}

/// The agent's inbox has the event, with these words.
pub(crate) async fn agent_reads(agent: &Agent, event_id: &str, words: &str) -> Result<Value> {
    let message =
        agent.hear(event_id).await.with_context(|| format!("{} and {words:?}", agent.display_name))?;
    ensure!(message["conversation"]["text"] == words, "{words:?} came as {message}");
    Ok(message)
}

/// The person's client shows it decrypted at once and without a shield.
pub(crate) async fn person_reads(human: &Human, event_id: &str, words: &str) -> Result<Value> {
    let event = human.see_event(event_id).await.with_context(|| format!("for {words:?}"))?;
    ensure!(
        event["kind"] == "message" && event["body"] == words,
        "{words:?} came to {} as {event}",
        human.device_id
    );
    ensure!(event["encrypted"] == true, "in clear: {event}");
    let plain_sight = human.client == Client::Nio || event["shield"]["colour"] == "none";
    ensure!(plain_sight, "a shield: {event}");
    Ok(event)
}

/// The one device of a puppet: cross-signed by its owner, so that strict clients take it.
pub(crate) async fn signed_device(human: &Human, user: &str) -> Result<String> {
    let known = human.obey("devices", json!({"user": user})).await?;
    ensure!(known["crossSigningKeys"] == true, "{user} has no identity: {known}");
    let devices = known["devices"].as_array().context("no devices")?;
    ensure!(devices.len() == 1, "{user} has not one device: {known}");
    ensure!(devices[0]["signedByOwner"] == true, "{user}'s device is not signed: {known}");
    Ok(text(&devices[0]["device"]).to_owned())
}

/// No route shows the agent these events: inbox, history, lookup, anchors.
pub(crate) async fn reads_nothing_of(agent: &Agent, hidden: &[(String, &str)]) -> Result<()> {
    let ids: Vec<&str> = hidden.iter().map(|(id, _)| id.as_str()).collect();
    let inbox = agent.wait("wait=0&limit=50&wake=all&settle=0").await?.expect(200)?;
    let history = agent.history("limit=50").await?;
    for (id, words) in hidden {
        for shown in [&inbox, &history] {
            let whole = shown.to_string();
            let listed = parlour_tests::event_ids(shown).contains(id);
            ensure!(
                !whole.contains(words) && !listed,
                "{} may not see {words:?}: {shown}",
                agent.display_name
            );
        }
        for anchor in ["around", "before", "after"] {
            let path = format!("/me/rooms/{}/messages?{anchor}={}", encode(&agent.room), encode(id));
            agent
                .get(&path)
                .await?
                .refusal(404, "message_not_found")
                .with_context(|| format!("{anchor} {words:?}"))?;
        }
    }
    let found = agent.look_up(&ids).await?;
    ensure!(found["messages"] == json!([]) && found["missing"] == json!(ids), "looked up: {found}");
    Ok(())
}
