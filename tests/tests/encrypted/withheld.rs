//! A person gives keys to some agents and not to others, edits and deletes: nobody reads a word that was not for them,
//! and everybody reads what was.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Plan, until};
use serde_json::json;

use crate::common::text;
use crate::world::{Trio, agent_reads, reads_nothing_of};

impl Trio {
    /// Room keys of the person do not reach the agent's puppet from now on.
    async fn hold_keys(&self, agent: &Agent) -> Result<String> {
        let puppet = self.puppet(agent).await?;
        self.ada.obey("hold_keys", json!({"user": puppet})).await?;
        self.new_session().await?;
        Ok(puppet)
    }

    async fn release_keys(&self, puppet: &str) -> Result<()> {
        self.ada.obey("release_keys", json!({"user": puppet})).await.map(drop)
    }

    async fn new_session(&self) -> Result<()> {
        self.ada.obey("new_session", json!({"room": self.room.id})).await.map(drop)
    }

    /// Later messages reach the puppet again; what was held stays so.
    async fn hold_no_more(&self, puppet: &str) -> Result<()> {
        self.ada.obey("hold_no_more", json!({"user": puppet})).await?;
        self.new_session().await
    }

    async fn the_key_comes(&self, agent: &Agent, puppet: &str, now: &[(&String, &str)]) -> Result<()> {
        self.release_keys(puppet).await?;
        for (event_id, words) in now {
            until(&format!("{words:?}"), 60, async || {
                let found = agent.look_up(&[event_id]).await?;
                Ok((found["messages"][0]["conversation"]["text"] == **words).then_some(()))
            })
            .await?;
        }
        Ok(())
    }

    /// The event id of the edit.
    async fn edits(&self, event_id: &str, words: &str) -> Result<String> {
        self.world.note(words);
        let edit = json!({"room": self.room.id, "eventId": event_id, "text": words});
        let edited = self.ada.obey("edit", edit).await?;
        Ok(text(&edited["eventId"]).to_owned())
    }

    async fn redacts(&self, event_id: &str) -> Result<()> {
        self.ada.obey("redact", json!({"room": self.room.id, "eventId": event_id})).await.map(drop)
    }

    /// Everything so far has come to both agents: something said after it has.
    async fn all_caught_up(&self, about: &str) -> Result<()> {
        self.human_talks(&self.ada, &format!("and now {about}")).await.map(drop)
    }
}

/// What every route tells the agent of one message: lookup, history, inbox.
async fn reads_as(agent: &Agent, event_id: &str, words: &str) -> Result<()> {
    let found = agent.look_up(&[event_id]).await?;
    let history = agent.history("limit=50").await?;
    let mut told = vec![&found["messages"][0]];
    told.extend(history["messages"].as_array().into_iter().flatten().filter(|m| m["eventId"] == event_id));
    ensure!(told.len() == 2, "{} has not the message {words:?}: {found} {history}", agent.display_name);
    for message in told {
        ensure!(
            message["conversation"]["text"] == words,
            "{} should read {words:?}: {message}",
            agent.display_name
        );
    }
    Ok(())
}

/// Nothing that the agent can ask for holds these words.
async fn never_reads(agent: &Agent, ids: &[&str], words: &str) -> Result<()> {
    let inbox = agent.wait("wait=0&limit=50&wake=all&settle=0").await?.expect(200)?;
    let (history, found) = (agent.history("limit=50").await?, agent.look_up(ids).await?);
    for shown in [&inbox, &history, &found] {
        ensure!(!shown.to_string().contains(words), "{} may not read {words:?}: {shown}", agent.display_name);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_read_by_those_who_have_its_key() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("corrections").await?;
    let (owner, guest) = (&trio.owner, &trio.guest);
    let first = trio.human_talks(&trio.ada, "the first wording").await?;
    let puppet = trio.hold_keys(guest).await?;
    let edit = trio.edits(&first, "the second wording").await?;
    let hidden = trio.world.human_says(&trio.ada, &trio.room.id, "for the owner alone").await?;
    agent_reads(owner, &hidden, "for the owner alone").await?;
    reads_as(owner, &first, "the second wording").await?;
    // a reply quotes what each of them may read
    trio.hold_no_more(&puppet).await?;
    trio.world.note("about the first");
    let answer = json!({"room": trio.room.id, "text": "about the first", "replyTo": first});
    let answer = trio.ada.send(answer).await?;
    let quoted = agent_reads(owner, &answer, "about the first").await?;
    ensure!(quoted["replyTo"]["excerpt"] == "the second wording", "{quoted}");
    let quoted = agent_reads(guest, &answer, "about the first").await?;
    ensure!(quoted["replyTo"]["excerpt"] == "the first wording", "{quoted}");
    reads_as(guest, &first, "the first wording").await?;
    never_reads(guest, &[&first, &edit], "the second wording").await?;
    reads_nothing_of(guest, &[(hidden.clone(), "for the owner alone")]).await?;
    trio.the_key_comes(guest, &puppet, &[(&first, "the second wording"), (&hidden, "for the owner alone")])
        .await?;
    agent_reads(guest, &hidden, "for the owner alone").await?;
    trio.all_talk("the end of it").await?;
    let times = guest.heard().iter().filter(|m| m["eventId"] == hidden.as_str()).count();
    ensure!(times == 1, "the late message came {times} times");
    trio.finish().await
}

/// An edit whose message cannot be read yet, and a deletion of one: both count once the key has come.
#[tokio::test(flavor = "multi_thread")]
async fn edits_and_deletions_before_the_key_of_their_message() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("patience").await?;
    let (ada, room) = (&trio.ada, trio.room.id.as_str());
    let held = [trio.hold_keys(&trio.owner).await?, trio.hold_keys(&trio.guest).await?];
    let edited = trio.world.human_says(ada, room, "an early wording").await?;
    let gone = trio.world.human_says(ada, room, "better not said").await?;
    for puppet in &held {
        trio.hold_no_more(puppet).await?;
    }
    trio.edits(&edited, "a later wording").await?;
    trio.redacts(&gone).await?;
    trio.all_caught_up("the edit and the deletion are here").await?;
    for puppet in &held {
        trio.release_keys(puppet).await?;
    }
    for agent in trio.agents() {
        agent_reads(agent, &edited, "a later wording").await?;
        reads_as(agent, &edited, "a later wording").await?;
    }
    trio.all_talk("what is left").await?;
    for agent in trio.agents() {
        reads_nothing_of(agent, &[(gone.clone(), "better not said")]).await?;
    }
    trio.finish().await
}

/// What an agent read before it was removed stays as it was: the new wording was said while it was away.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_made_while_the_agent_was_away() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("being there").await?;
    let (world, guest) = (&trio.world, &trio.guest);
    let first = trio.human_talks(&trio.ada, "as it was said").await?;
    trio.guest_goes().await?;
    let edit = trio.edits(&first, "as it was meant").await?;
    let away = world.human_says(&trio.ada, &trio.room.id, "not for the guest").await?;
    agent_reads(&trio.owner, &away, "not for the guest").await?;
    reads_as(&trio.owner, &first, "as it was meant").await?;

    trio.guest_comes_back().await?;
    trio.all_talk("being back").await?;
    reads_as(guest, &first, "as it was said").await?;
    never_reads(guest, &[&first, &edit], "as it was meant").await?;
    reads_nothing_of(guest, &[(away, "not for the guest")]).await?;
    trio.world.finish(&trio.room.id, &[&trio.ada]).await
}
