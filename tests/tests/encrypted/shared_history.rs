//! A person who invites an agent's puppet shares what was said before (MSC4268): that agent reads it, and no other.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Client, Human, Plan, encode, until};
use reqwest::Method;
use serde_json::json;

use crate::world::{World, agent_reads, person_reads, reads_nothing_of};

/// A room of the person's.
async fn makes(ada: &Human, name: &str, invite: &[&str]) -> Result<String> {
    let made = json!({"name": name, "encrypted": true, "history": "shared", "invite": invite});
    Ok(ada.obey("create_room", made).await?["room"].as_str().unwrap_or_default().to_owned())
}

/// Waits until the agent's history of the room has the event, from before it came.
async fn has_history(agent: &Agent, event_id: &str, words: &str) -> Result<()> {
    until(&format!("{words:?} in the history"), 60, async || {
        let history = agent.history("limit=50").await?;
        let found = history["messages"].as_array().into_iter().flatten().find(|m| m["eventId"] == event_id);
        let Some(message) = found else { return Ok(None) };
        ensure!(message["conversation"]["text"] == words && message["beforeJoin"] == true, "{message}");
        Ok(Some(()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_that_a_person_shares_is_read_by_whom_it_was_shared_with() -> Result<()> {
    let world = World::start(Plan::default()).await?;
    let (first, second) = (world.stack.agent("First", None).await?, world.stack.agent("Second", None).await?);
    let ada = world.human("ada", Client::Js).await?;
    ada.raw.join(&first.room).await?;
    let puppet = [
        ada.raw.member_named(&first.room, &first.display_name).await?,
        ada.raw.member_named(&first.room, &second.display_name).await?,
    ];
    // keys can be given to devices only, and a puppet has one from its first encrypted room on
    let hall = makes(&ada, "Hall", &[&puppet[0], &puppet[1]]).await?;
    for puppet in &puppet {
        ada.see_member(&hall, puppet, "join").await?;
    }

    let room = makes(&ada, "Archive", &[]).await?;
    let old = world.human_says(&ada, &room, "said long ago").await?;
    world.note("said otherwise long ago");
    ada.obey("edit", json!({"room": room, "eventId": old, "text": "said otherwise long ago"})).await?;
    ada.obey("new_session", json!({"room": room})).await?;
    let later = world.human_says(&ada, &room, "said a while ago").await?;

    // not by her client, which gives the keys along
    let invite = format!("/rooms/{}/invite", encode(&room));
    ada.raw.call(Method::POST, &invite, Some(&json!({"user_id": puppet[1]}))).await?.expect(200)?;
    ada.see_member(&room, &puppet[1], "join").await?;
    let second = second.turned_to(&room);
    second.until_in(&room).await?;
    let hidden = [(old.clone(), "long ago"), (later.clone(), "said a while ago")];
    reads_nothing_of(&second, &hidden).await?;
    let now = world.human_says(&ada, &room, "said to the second").await?;
    agent_reads(&second, &now, "said to the second").await?;

    ada.obey("invite", json!({"room": room, "user": puppet[0]})).await?;
    ada.see_member(&room, &puppet[0], "join").await?;
    let first = first.turned_to(&room);
    first.until_in(&room).await?;
    has_history(&first, &old, "said otherwise long ago").await?;
    has_history(&first, &later, "said a while ago").await?;
    has_history(&first, &now, "said to the second").await?;

    let both = world.human_says(&ada, &room, "said to both").await?;
    for agent in [&first, &second] {
        agent_reads(agent, &both, "said to both").await?;
    }
    reads_nothing_of(&second, &hidden).await?;
    let answer = world.agent_says(&first, "read and understood").await?;
    person_reads(&ada, &answer, "read and understood").await?;
    agent_reads(&second, &answer, "read and understood").await?;
    world.finish(&room, &[&ada]).await
}
