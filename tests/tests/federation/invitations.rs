//! Invitations over the border: of an agent's puppet by a person of another homeserver, and of such a person by an agent.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Human, Person, Stack};
use reqwest::Method;
use serde_json::json;

use crate::alias;
use crate::common::{becomes, text};
use crate::world::{World, agent_reads, person_reads};

/// Both rules are "local", as they are where the operator says nothing. Mallory shares no room with an agent, which Eve
/// does.
pub(crate) async fn of_strangers_are_refused(stack: &Stack, eve: &Person, lobby: &str) -> Result<()> {
    let host = stack.agent("Host", None).await?;
    let mallory = Person::register(stack.elsewhere()?, "mallory")?;
    let made = host.call(Method::POST, "/me/private-rooms", Some(&json!({"name": "Workshop"}))).await?;
    let made = made.expect(201)?;
    let path = format!("/me/private-rooms/{}/invitations", text(&made["room"]["catalogId"]));
    let invite =
        async |who: &Person| host.call(Method::POST, &path, Some(&json!({"accountId": who.user_id}))).await;
    invite(&mallory).await?.refusal(404, "account_not_found")?;
    invite(eve).await?.expect(204)?;

    let puppet = eve.member_named(lobby, &host.display_name).await?;
    let bot = format!("@parlour:{}", stack.synapse.server_name());
    for person in [&mallory, eve] {
        let lair = json!({"preset": "private_chat", "name": "Lair", "invite": [puppet, bot]});
        let lair = person.create_room(&lair).await?;
        for guest in [&puppet, &bot] {
            becomes(person, &lair, guest, "leave").await?;
        }
    }
    Ok(())
}

/// `invites` is "anyone". Gives the room, which is elsewhere.
pub(crate) async fn of_anyone_are_followed(world: &World, eve: &Human, agent: &Agent) -> Result<String> {
    let lobby = eve.raw.join(&alias(&world.stack, "lobby")).await?;
    let puppet = eve.raw.member_named(&lobby, &agent.display_name).await?;
    let made = json!({"name": "Kitchen", "encrypted": true, "invite": [puppet]});
    let made = eve.obey("create_room", made).await?;
    let kitchen = text(&made["room"]).to_owned();
    eve.see_member(&kitchen, &puppet, "join").await?;
    let agent = agent.turned_to(&kitchen);
    agent.until_in(&kitchen).await?;
    let event_id = world.human_says(eve, &kitchen, "so you came all this way").await?;
    let heard = agent_reads(&agent, &event_id, "so you came all this way").await?;
    ensure!(heard["actor"]["matrixUserId"] == eve.user_id, "{heard}");
    let event_id = world.agent_says(&agent, "it was not far").await?;
    person_reads(eve, &event_id, "it was not far").await?;
    Ok(kitchen)
}
