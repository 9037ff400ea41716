//! The other homeserver does not answer: those at home go on, and what was said meanwhile is there when it is back.

use anyhow::Result;
use parlour_tests::{Agent, Client, Human};
use tokio::task::block_in_place;

use crate::sees_come;
use crate::world::{Room, World, agent_reads, person_reads, saw_nothing_odd};

/// Newcomers are the hard case: nobody's device elsewhere has spoken with theirs.
pub(crate) async fn a_homeserver_is_away_for_a_while(
    world: &World,
    owner: &Agent,
    room: &Room,
    eve: &Human,
) -> Result<()> {
    let ada = world.human("ada", Client::Js).await?;
    world.invite(owner, room, &ada).await?;
    saw_nothing_odd(eve)?;
    block_in_place(|| world.stack.elsewhere()?.stop())?;
    let newcomer = world.guest("Newcomer", room).await?;
    for (agent, words) in [(owner, "is anybody there"), (&newcomer, "I have just come")] {
        let event_id = world.agent_says(agent, words).await?;
        person_reads(&ada, &event_id, words).await?;
    }
    let event_id = world.human_says(&ada, &room.id, "we are alone").await?;
    for agent in [owner, &newcomer] {
        agent_reads(agent, &event_id, "we are alone").await?;
    }

    block_in_place(|| world.stack.elsewhere()?.restart())?;
    let event_id = world.human_says(eve, &room.id, "here I am again").await?;
    agent_reads(owner, &event_id, "here I am again").await?;
    sees_come(eve, &room.id, &newcomer).await?;
    let event_id = world.human_says(eve, &room.id, "and who are you").await?;
    for (agent, words) in [(owner, "where have you been"), (&newcomer, "we have not met")] {
        agent_reads(agent, &event_id, "and who are you").await?;
        let event_id = world.agent_says(agent, words).await?;
        person_reads(eve, &event_id, words).await?;
    }
    Ok(())
}
