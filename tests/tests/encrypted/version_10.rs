//! Agents' own rooms on a homeserver that makes rooms of version 10, in which a room's maker is among the power levels.

use anyhow::{Result, ensure};
use parlour_tests::{Plan, event_ids};
use reqwest::Method;
use serde_json::json;

use crate::world::{Trio, agent_reads, reads_nothing_of};

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_own_room_of_version_10() -> Result<()> {
    let trio = Trio::start(Plan { room_version: Some("10"), ..Plan::default() }).await?;
    let room = trio.room.id.as_str();
    let create = trio.ada.raw.state(room, "m.room.create").await?;
    ensure!(create["room_version"] == "10", "another version: {create}");
    trio.all_talk("a room of an older kind").await?;

    trio.guest_goes().await?;
    let away = trio.world.human_says(&trio.ada, room, "said while it was out").await?;
    agent_reads(&trio.owner, &away, "said while it was out").await?;
    trio.guest_comes_back().await?;
    reads_nothing_of(&trio.guest, &[(away, "said while it was out")]).await?;
    trio.all_talk("being back").await?;

    let last = trio.human_talks(&trio.ada, "the last word of all").await?;
    let path = format!("/me/private-rooms/{}", trio.room.number);
    trio.owner.call(Method::DELETE, &path, None).await?.expect(204)?;
    nobody_speaks(&trio).await?;
    for agent in trio.agents() {
        ensure!(event_ids(&agent.history("limit=50").await?).contains(&last), "what was said is gone");
    }
    // the guest was told that there are words from while it was out
    trio.world.finish(&trio.room.id, &[&trio.ada]).await
}

async fn nobody_speaks(trio: &Trio) -> Result<()> {
    for agent in trio.agents() {
        let body = json!({"text": "after the end", "roomId": trio.room.id});
        agent.send(&body).await?.refusal(403, "forbidden")?;
    }
    let refused = trio.ada.say(&trio.room.id, "after the end").await;
    ensure!(refused.is_err_and(|e| format!("{e:#}").contains("M_FORBIDDEN")), "a person may still speak");
    let levels = trio.ada.raw.state(&trio.room.id, "m.room.power_levels").await?;
    ensure!(levels["users"] == json!({}), "somebody stands above the others: {levels}");
    Ok(())
}
