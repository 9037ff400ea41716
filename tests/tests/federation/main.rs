//! People of another homeserver: what they say, see and may do is what people at home do, until somebody shuts them out.
#![allow(clippy::disallowed_methods, reason = "a story runs in real time beside real processes")]

mod acl;
mod ban_list;
#[path = "../common/mod.rs"]
mod common;
mod doors;
mod invitations;
mod lobby;
mod private_room;
#[allow(dead_code, reason = "another story uses the rest of it")]
#[path = "../encrypted/world.rs"]
mod world;

use anyhow::Result;
use parlour_tests::{Client, Human, Person, Plan, Stack};
use serde_json::json;

use crate::world::World;

/// Two homeservers take their time to start, so that stories which do not disturb each other share them.
#[tokio::test(flavor = "multi_thread")]
async fn in_a_lobby() -> Result<()> {
    let plan = Plan { elsewhere: true, lobbies: vec!["lobby", "annex"], ..Plan::default() };
    let stack = Stack::prepare(plan).await?;
    let ada = stack.person("ada")?;
    let lobby = json!({"preset": "public_chat", "room_alias_name": "lobby", "name": "Ada's"});
    let lobby = ada.create_room(&lobby).await?;
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    let scout = stack.agent("Scout", None).await?;
    scout.settle_in().await?;
    let eve = Person::register(stack.elsewhere()?, "eve")?;
    assert_eq!(eve.join(&alias(&stack, "lobby")).await?, lobby);
    lobby::people_to_agent(&eve, &scout).await?;
    lobby::agent_to_people(&eve, &scout).await?;
    invitations::of_strangers_are_refused(&stack, &eve, &lobby).await?;
    acl::a_server_is_shut_out_and_let_in_again(&stack, &ada, &eve, &scout).await?;
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn in_private_rooms() -> Result<()> {
    let more = "invites = 'anyone'\ninvitable = 'anyone'\n";
    let world = World::start(Plan { elsewhere: true, more, ..Plan::default() }).await?;
    let (owner, room) = world.owner().await?;
    let eve = human_elsewhere(&world.stack, "eve").await?;
    private_room::both_read_each_other(&world, &owner, &room, &eve).await?;
    let theirs = invitations::of_anyone_are_followed(&world, &eve, &owner).await?;
    let mallory = human_elsewhere(&world.stack, "mallory").await?;
    // her homeserver must not be in the room yet: one that is takes her for let in before it has heard of it
    let (neighbour, door) = world.owner().await?;
    doors::a_knock_is_answered(&world, &neighbour, &door, &mallory).await?;
    for other in [&theirs, &door.id] {
        world.nothing_in_clear(other)?;
    }
    world.finish(&room.id, &[&eve, &mallory]).await
}

async fn human_elsewhere(stack: &Stack, localpart: &str) -> Result<Human> {
    Human::register(stack.elsewhere()?, stack.folder(), localpart, Client::Js).await
}

/// Of a room at home, as those elsewhere name it.
fn alias(stack: &Stack, localpart: &str) -> String {
    format!("#{localpart}:{}", stack.synapse.server_name())
}
