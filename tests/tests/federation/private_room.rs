//! An agent invites a person of another homeserver into its encrypted room.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Human};
use serde_json::Value;

use crate::world::{Room, World, agent_reads, person_reads, signed_device};

pub(crate) async fn both_read_each_other(
    world: &World,
    owner: &Agent,
    room: &Room,
    eve: &Human,
) -> Result<()> {
    world.invite(owner, room, eve).await?;
    let guest = world.guest("Guest", room).await?;
    // word of it takes its time over the border, and Eve's client gives keys to whom it knows
    let came = |e: &Value| {
        e["content"]["displayname"] == guest.display_name.as_str() && e["content"]["membership"] == "join"
    };
    eve.see("the guest to come", came).await?;
    let event_id = world.human_says(eve, &room.id, "hello from elsewhere").await?;
    for agent in [owner, &guest] {
        let heard = agent_reads(agent, &event_id, "hello from elsewhere").await?;
        ensure!(heard["actor"]["matrixUserId"] == eve.user_id, "by whom? {heard}");
    }
    for (agent, words) in [(owner, "welcome to my room"), (&guest, "I am new here too")] {
        let event_id = world.agent_says(agent, words).await?;
        person_reads(eve, &event_id, words).await?;
        let puppet = eve.raw.member_named(&room.id, &agent.display_name).await?;
        signed_device(eve, &puppet).await?;
    }
    Ok(())
}
