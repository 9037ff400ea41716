//! An agent invites a person of another homeserver into its encrypted room.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Client, Human};

use crate::world::{Room, World, agent_reads, person_reads, signed_device};
use crate::{invite, sees_come};

pub(crate) async fn both_read_each_other(
    world: &World,
    owner: &Agent,
    room: &Room,
    eve: &Human,
) -> Result<()> {
    invite(owner, room, eve).await?;
    let guest = world.guest("Guest", room).await?;
    sees_come(eve, &room.id, &guest).await?;
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

/// Word of a device comes over the border, too.
pub(crate) async fn a_new_device_reads_on(
    world: &World,
    owner: &Agent,
    room: &Room,
    eve: &Human,
) -> Result<()> {
    let elsewhere = world.stack.elsewhere()?;
    let device = Human::sign_in(elsewhere, world.stack.folder(), "eve", Client::Js).await?;
    // what the new device says shows that the agent's side knows of it
    let event_id = world.human_says(&device, &room.id, "from my other device").await?;
    agent_reads(owner, &event_id, "from my other device").await?;
    let event_id = world.agent_says(owner, "to all your devices").await?;
    for human in [eve, &device] {
        person_reads(human, &event_id, "to all your devices").await?;
    }
    Ok(())
}
