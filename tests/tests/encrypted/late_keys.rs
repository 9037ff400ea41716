//! A message whose key comes later than itself waits for it, and nothing waits for the message.

use std::time::Instant;

use anyhow::{Result, ensure};
use parlour_tests::{Devices, Plan, until};
use rstest::rstest;
use serde_json::json;

use crate::world::{Trio, agent_reads, reads_nothing_of};

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_comes_8_s_late(
    #[values(Devices::Pushed, Devices::Pulled, Devices::OwnToken)] devices: Devices,
) -> Result<()> {
    a_key_that_comes_late(8, devices).await
}

/// On one way only, as it takes its time: the ways differ in how a key comes, and that the story above shows.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_comes_90_s_late() -> Result<()> {
    a_key_that_comes_late(90, Devices::Pushed).await
}

async fn a_key_that_comes_late(seconds: u64, devices: Devices) -> Result<()> {
    let trio = Trio::start(Plan { devices, ..Plan::default() }).await?;
    trio.all_talk("punctuality").await?;
    let (ada, room) = (&trio.ada, &trio.room.id);
    let words = "with a late key";
    let began = Instant::now();
    ada.obey("delay_keys", json!({"ms": seconds * 1000})).await?;
    ada.obey("new_session", json!({"room": room})).await?;
    let late = trio.world.human_says(ada, room, words).await?;
    ada.obey("delay_keys", json!({"ms": 0})).await?;
    ada.obey("new_session", json!({"room": room})).await?;
    trio.human_talks(ada, "with a key in time").await?;
    for agent in trio.agents() {
        ensure!(agent.heard().iter().all(|m| m["eventId"] != late.as_str()), "read without a key");
        reads_nothing_of(agent, &[(late.clone(), words)]).await?;
    }
    ensure!(began.elapsed().as_secs() < seconds, "too slow to tell");
    for agent in trio.agents() {
        let message = agent.hear_within(&late, seconds + 60).await?;
        ensure!(message["conversation"]["text"] == words, "{message}");
        let history = parlour_tests::event_ids(&agent.history("limit=10").await?);
        ensure!(history.contains(&late), "not in the history of {}", agent.display_name);
    }
    ensure!(began.elapsed().as_secs() >= seconds, "the key was not late at all");
    trio.all_talk("better late than never").await?;
    trio.finish().await
}

/// Started anew, the bridge still asks for what it lacks, though nobody tells it that the key has come.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_comes_after_a_restart_and_is_not_pushed() -> Result<()> {
    let trio = Trio::start(Plan { devices: Devices::Pulled, ..Plan::default() }).await?;
    trio.all_talk("what will be late").await?;
    let puppets = [trio.puppet(&trio.owner).await?, trio.puppet(&trio.guest).await?];
    for puppet in &puppets {
        trio.ada.obey("hold_keys", json!({"user": puppet})).await?;
    }
    trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
    let words = "with a key that is held";
    let late = trio.world.human_says(&trio.ada, &trio.room.id, words).await?;
    let bridge = &trio.world.stack.bridge;
    // by the time that it knows how devices are reached, what each start asks for has been answered
    let found = || bridge.log().matches("how puppets' devices are reached").count();
    let before = found();
    bridge.restart().await?;
    until("the next start to know", 60, async || Ok((found() > before).then_some(()))).await?;
    for puppet in &puppets {
        trio.ada.obey("release_keys", json!({"user": puppet})).await?;
    }
    for agent in trio.agents() {
        agent_reads(agent, &late, words).await?;
    }
    trio.all_talk("that it is there now").await?;
    trio.finish().await
}
