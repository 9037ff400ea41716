//! People of another homeserver: what they say, see and may do is what people at home do, until somebody shuts them out.
#![allow(clippy::disallowed_methods, reason = "a story runs in real time beside real processes")]

mod acl;
mod away;
mod ban_list;
mod bot;
#[path = "../common/mod.rs"]
mod common;
mod doors;
mod gap;
mod invitations;
mod lobby;
mod private_room;
mod upgrade;
#[allow(dead_code, reason = "another story uses the rest of it")]
#[path = "../encrypted/world.rs"]
mod world;

use anyhow::Result;
use parlour_tests::{Agent, Client, Human, Person, Plan, Stack, until};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Room, World};

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
    private_room::a_new_device_reads_on(&world, &owner, &room, &eve).await?;
    let theirs = invitations::of_anyone_are_followed(&world, &eve, &owner).await?;
    // a room of its own: a homeserver that is in already lets her in before it has heard of the answer, and errs
    let (neighbour, door) = world.owner().await?;
    doors::a_knock_is_answered(&world, &neighbour, &door, &eve).await?;
    let cellar = bot::lets_agents_in_elsewhere(&world, &eve).await?;
    upgrade::is_followed_over_the_border(&world, &eve, &owner).await?;
    away::a_homeserver_is_away_for_a_while(&world, &owner, &room, &eve).await?;
    for other in [&theirs, &door.id, &cellar] {
        world.nothing_in_clear(other)?;
    }
    world.finish(&room.id, &[]).await
}

async fn human_elsewhere(stack: &Stack, localpart: &str) -> Result<Human> {
    Human::register(stack.elsewhere()?, stack.folder(), localpart, Client::Js).await
}

/// An agent invites somebody elsewhere into its room, and waits until they have come.
async fn invite(owner: &Agent, room: &Room, human: &Human) -> Result<()> {
    let path = format!("/me/private-rooms/{}/invitations", room.number);
    owner.call(Method::POST, &path, Some(&json!({"accountId": human.user_id}))).await?.expect(204)?;
    accepts(human, &room.id).await
}

/// Waits for an invitation into a room, and joins it. A homeserver elsewhere is told of an invitation before the one at home
/// has written it down, so that whoever accepts at once may be refused.
async fn accepts(human: &Human, room: &str) -> Result<()> {
    let invited =
        |e: &Value| e["kind"] == "my_membership" && e["room"] == room && e["membership"] == "invite";
    human.see(&format!("an invitation into {room}"), invited).await?;
    let join = async || Ok(human.obey("join", json!({"room": room})).await.ok());
    until("the invitation to hold", 30, join).await.map(drop)
}

/// Word of an agent takes its time over the border, and a client gives keys to those whom it knows of.
async fn sees_come(human: &Human, room: &str, agent: &Agent) -> Result<Value> {
    let came = |e: &Value| {
        e["room"] == room
            && e["content"]["displayname"] == agent.display_name.as_str()
            && e["content"]["membership"] == "join"
    };
    human.see(&format!("{} to come", agent.display_name), came).await
}

/// Of a room at home, as those elsewhere name it.
fn alias(stack: &Stack, localpart: &str) -> String {
    format!("#{localpart}:{}", stack.synapse.server_name())
}
