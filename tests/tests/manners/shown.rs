//! A person sees who is there, what was read, who is about to answer, and who they all are.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Client, Human, Plan, SERVER_NAME, Stack, encode, event_ids, until};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::common::text;
use crate::world::Trio;

/// Longer than an agent stays online after its last wait.
const IDLE_SECONDS: u64 = 90;

/// Who looks, and at whom.
struct Scene<'a> {
    stack: &'a Stack,
    person: &'a Human,
    agent: &'a Agent,
    puppet: &'a str,
}

/// How much the person's client has told so far.
fn mark(person: &Human) -> u64 {
    person.events().last().and_then(|e| e["seq"].as_u64()).unwrap_or(0)
}

fn is(e: &Value, since: u64, kind: &str, who: &str) -> bool {
    e["seq"].as_u64().is_some_and(|seq| seq > since) && e["kind"] == kind && e["sender"] == who
}

impl Scene<'_> {
    /// Something of the puppet since a mark.
    async fn sees(&self, since: u64, kind: &str, wanted: impl Fn(&Value) -> bool) -> Result<()> {
        let what = format!("{kind} of {}", self.puppet);
        self.person.see(&what, |e| is(e, since, kind, self.puppet) && wanted(e)).await.map(drop)
    }

    /// The person asks it by name while it waits; it is handed that and shows as typing.
    async fn is_asked(&self, since: u64) -> Result<String> {
        let waiting = tokio::spawn({
            let agent = self.agent.clone();
            async move { agent.wait("wait=30&settle=0").await?.expect(200) }
        });
        let ask = json!({"room": self.agent.room, "text": "are you there?", "mentions": [self.puppet]});
        let asked = self.person.send(ask).await?;
        let handed = waiting.await??;
        ensure!(event_ids(&handed).contains(&asked), "not handed over: {handed}");
        self.sees(since, "typing", |e| e["typing"] == true).await?;
        Ok(asked)
    }

    /// Asked twice, it stops typing once by acknowledging and once by speaking, and has read both.
    async fn has_manners(&self) -> Result<()> {
        let since = mark(self.person);
        let asked = self.is_asked(since).await?;
        self.agent.ack(&asked).await?;
        self.sees(since, "typing", |e| e["typing"] == false).await?;
        self.sees(since, "receipt", |e| e["readUpTo"] == asked.as_str()).await?;
        self.sees(0, "presence", |e| e["presence"] == "online" && e["status"] == "Listening").await?;
        let since = mark(self.person);
        let asked = self.is_asked(since).await?;
        self.agent.say_here("here I am").await?;
        self.sees(since, "typing", |e| e["typing"] == false).await?;
        self.agent.ack(&asked).await?;
        self.sees(since, "receipt", |e| e["readUpTo"] == asked.as_str()).await
    }

    /// The membership of a puppet or the bot shows a picture, which comes small too, and the profile says what it is.
    async fn looks_like(&self, who: &str, beginning: &str) -> Result<String> {
        let pictured = |e: &Value| {
            e["kind"] == "member"
                && e["room"] == self.agent.room.as_str()
                && e["stateKey"] == who
                && text(&e["content"]["avatar_url"]).starts_with("mxc://")
        };
        let member = self.person.see(&format!("the picture of {who}"), pictured).await?;
        let url = text(&member["content"]["avatar_url"]).to_owned();
        let small = self.person.obey("picture", json!({"mxc": url})).await?;
        ensure!(small["status"] == 200 && small["contentType"] == "image/png", "no picture: {small}");
        until("a profile that says what it is", 60, async || self.says(who, beginning).await).await?;
        Ok(url)
    }

    async fn says(&self, who: &str, beginning: &str) -> Result<Option<()>> {
        let path = format!("/profile/{}", encode(who));
        let profile = self.person.raw.call(Method::GET, &path, None).await?.expect(200)?;
        let about = text(&profile["gay.fomx.biography"]["m.text"][0]["body"]);
        let whole = about.starts_with(beginning) && profile["dev.nordgedanken.msc4015"] == true;
        Ok(whole.then_some(()))
    }

    /// Until the person's client has heard from the homeserver again: what passes meanwhile is lost on it.
    async fn homeserver_restarts(&self) -> Result<()> {
        block_in_place(|| self.stack.synapse.restart())?;
        let here = self.agent.say_here("still here").await?;
        self.person.see_event(&here).await.map(drop)
    }

    async fn bridge_restarts(&self) -> Result<()> {
        let since = mark(self.person);
        self.stack.bridge.stop().await?;
        self.sees(since, "presence", |e| e["presence"] == "offline").await?;
        self.stack.bridge.start()?;
        self.stack.bridge.ready().await
    }

    async fn over_restarts(&self) -> Result<()> {
        self.agent.settle_in().await?;
        let url = self.looks_like(self.puppet, "An AI agent, not a person.").await?;
        self.has_manners().await?;
        self.homeserver_restarts().await?;
        self.has_manners().await.context("after a restart of the homeserver")?;
        self.bridge_restarts().await?;
        let since = mark(self.person);
        self.homeserver_restarts().await?;
        self.has_manners().await.context("after a restart of both")?;
        self.sees(since, "presence", |e| e["presence"] == "online").await?;
        ensure!(self.looks_like(self.puppet, "An AI agent").await? == url, "it has another picture now");
        Ok(())
    }

    /// Online for a minute after its last wait, then idle.
    async fn goes_idle(&self) -> Result<()> {
        let since = mark(self.person);
        let idle = |e: &Value| is(e, since, "presence", self.puppet) && e["presence"] == "unavailable";
        until("it to be idle", IDLE_SECONDS, async || Ok(self.person.events().into_iter().find(idle)))
            .await?;
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_lobby() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = Human::register(&stack.synapse, stack.folder(), "ada", Client::Js).await?;
    ada.obey("join", json!({"room": format!("#lobby:{SERVER_NAME}")})).await?;
    let agent = stack.agent("Scout", None).await?;
    let hello = agent.say_here("hello, all of you").await?;
    let puppet = text(&ada.see_event(&hello).await?["sender"]).to_owned();
    let scene = Scene { stack: &stack, person: &ada, agent: &agent, puppet: &puppet };
    scene.over_restarts().await?;
    let bots =
        scene.looks_like(&format!("@parlour:{SERVER_NAME}"), "The bridge that gives AI agents").await?;
    ensure!(bots != scene.looks_like(&puppet, "An AI agent").await?, "the bot looks like an agent");
    scene.goes_idle().await?;
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn in_an_encrypted_room() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let hello = trio.world.agent_says(&trio.owner, "hello, both of you").await?;
    let puppet = text(&trio.ada.see_event(&hello).await?["sender"]).to_owned();
    let (stack, person, agent) = (&trio.world.stack, &trio.ada, &trio.owner);
    Scene { stack, person, agent, puppet: &puppet }.over_restarts().await?;
    trio.all_talk("their looks").await?;
    let Trio { world, room, ada, .. } = trio;
    world.finish(&room.id, &[&ada]).await
}
