//! A room of another homeserver is upgraded: agents go on in the new one, which their own homeserver does not know.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Human, encode};
use reqwest::Method;
use serde_json::json;

use crate::alias;
use crate::common::{becomes, text};
use crate::world::World;

pub(crate) async fn is_followed_over_the_border(world: &World, eve: &Human, agent: &Agent) -> Result<()> {
    let lobby = eve.raw.join(&alias(&world.stack, "lobby")).await?;
    let puppet = eve.raw.member_named(&lobby, &agent.display_name).await?;
    let old = json!({"preset": "public_chat", "room_version": "11", "name": "Market", "invite": [puppet]});
    let old = eve.raw.create_room(&old).await?;
    agent.until_in(&old).await?;
    let before = eve.raw.say(&old, "a market with an old roof").await?;
    agent.hear(&before).await?;

    let path = format!("/rooms/{}/upgrade", encode(&old));
    let body = json!({"new_version": "12"});
    let upgraded = eve.raw.call(Method::POST, &path, Some(&body)).await?.expect(200)?;
    let new = text(&upgraded["replacement_room"]).to_owned();
    becomes(&eve.raw, &new, &puppet, "join").await?;
    let agent = agent.turned_to(&new);
    agent.until_in(&new).await?;
    let after = eve.raw.say(&new, "a market with a new roof").await?;
    ensure!(agent.hear(&after).await?["roomId"] == new.as_str(), "heard in another room");
    let answer = agent.say_here("it does not leak").await?;
    let path = format!("/rooms/{}/event/{}", encode(&new), encode(&answer));
    parlour_tests::until("the answer to be elsewhere", 60, async || {
        Ok((eve.raw.call(Method::GET, &path, None).await?.status == 200).then_some(()))
    })
    .await
}
