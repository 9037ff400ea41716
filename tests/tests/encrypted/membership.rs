//! Who comes late, is removed or comes back reads what was said while they were in, and nothing else.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Client, Devices, Plan, encode};
use reqwest::Method;
use rstest::rstest;
use serde_json::{Value, json};

use crate::world::{Trio, World, agent_reads, person_reads, reads_nothing_of};

/// So many messages take the homeserver a while to bring.
const PILED_UP: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn a_late_agent_reads_nothing_from_before() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let (world, room) = (&trio.world, trio.room.id.as_str());
    let by_person = trio.human_talks(&trio.ada, "said by her before it came").await?;
    let by_agent = world.agent_says(&trio.owner, "said by it before it came").await?;
    person_reads(&trio.ada, &by_agent, "said by it before it came").await?;
    let hidden = [(by_person.clone(), "said by her before it came"), (by_agent, "said by it before it came")];

    let late = world.guest("Late", &trio.room).await?;
    reads_nothing_of(&late, &hidden).await?;
    world.note("an answer to the past");
    let answer = json!({"room": room, "text": "an answer to the past", "replyTo": by_person});
    let message = agent_reads(&late, &trio.ada.send(answer).await?, "an answer to the past").await?;
    ensure!(message.get("replyTo").is_none(), "an excerpt of what it may not see: {message}");
    let gaps = late.gaps();
    let told =
        json!({"roomId": room, "beforeEventId": message["eventId"], "reason": "undecryptable_before_join"});
    ensure!(gaps == [told.clone()], "should be told once what it does not see: {gaps:?}");
    let refused = json!({"text": "about the past", "roomId": room, "replyTo": by_person});
    let refused = late.send(&refused).await?.refusal(400, "invalid_message")?;
    ensure!(refused["details"]["field"] == "replyTo", "{refused}");

    let event_id = world.agent_says(&late, "said by the late one").await?;
    person_reads(&trio.ada, &event_id, "said by the late one").await?;
    reads_nothing_of(&late, &hidden).await?;
    trio.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_removed_and_let_back_in() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let (world, room) = (&trio.world, &trio.room);
    trio.all_talk("old times").await?;
    trio.guest_goes().await?;

    let away = "said while it was away";
    let event_id = world.human_says(&trio.ada, &room.id, away).await?;
    agent_reads(&trio.owner, &event_id, away).await?;
    let from_owner = world.agent_says(&trio.owner, "said by the owner meanwhile").await?;
    person_reads(&trio.ada, &from_owner, "said by the owner meanwhile").await?;
    trio.guest
        .send(&json!({"text": "from outside", "roomId": room.id}))
        .await?
        .refusal(404, "room_not_joined")?;
    outside_nothing_is_told(&trio.guest, &event_id, away).await?;

    trio.guest_comes_back().await?;
    let hidden = [(event_id.clone(), away), (from_owner, "said by the owner meanwhile")];
    reads_nothing_of(&trio.guest, &hidden).await?;
    world.note("an answer to what it missed");
    let answer = json!({"room": room.id, "text": "an answer to what it missed", "replyTo": event_id});
    let event_id = trio.ada.send(answer).await?;
    let message = agent_reads(&trio.guest, &event_id, "an answer to what it missed").await?;
    ensure!(message.get("replyTo").is_none(), "an excerpt of what it may not see: {message}");
    trio.all_talk("new times").await?;
    reads_nothing_of(&trio.guest, &hidden).await?;
    trio.world.finish(&trio.room.id, &[&trio.ada]).await
}

async fn outside_nothing_is_told(agent: &Agent, event_id: &str, words: &str) -> Result<()> {
    let inbox = agent.wait("wait=0&limit=50&wake=all&settle=0").await?.expect(200)?;
    ensure!(!inbox.to_string().contains(words), "{inbox}");
    let history = format!("/me/rooms/{}/messages?limit=50", encode(&agent.room));
    agent.get(&history).await?.refusal(404, "room_not_joined")?;
    let found = agent.look_up(&[event_id]).await?;
    ensure!(found["messages"] == json!([]), "looked up: {found}");
    Ok(())
}

/// The person and the newcomer speak as soon as they see each other.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn speaking_in_the_second_of_a_join(
    #[values(Devices::Pushed, Devices::Pulled, Devices::OwnToken)] devices: Devices,
) -> Result<()> {
    let trio = Trio::start(Plan { devices, ..Plan::default() }).await?;
    let (world, room) = (&trio.world, &trio.room);
    trio.all_talk("who will come").await?;
    for round in 0..4 {
        let name = format!("Newcomer {round}");
        let events = trio.ada.events();
        let known = events.iter().filter_map(puppet_that_joined).map(str::to_owned).collect();
        let (newcomer, greeted) =
            tokio::join!(world.guest(&name, room), greet_the_next(&trio, &known, round));
        let (newcomer, (greeting, words)) = (newcomer?, greeted?);
        let hello = format!("hello from newcomer {round}");
        let hello_id = world.agent_says(&newcomer, &hello).await?;
        person_reads(&trio.ada, &hello_id, &hello).await?;
        agent_reads(&newcomer, &greeting, &words).await?;
        agent_reads(&trio.owner, &greeting, &words).await?;
        agent_reads(&trio.owner, &hello_id, &hello).await?;
    }
    trio.finish().await
}

/// Speaks as soon as a puppet has joined that was not there before.
async fn greet_the_next(trio: &Trio, known: &HashSet<String>, round: usize) -> Result<(String, String)> {
    let newcomer = |e: &Value| puppet_that_joined(e).is_some_and(|puppet| !known.contains(puppet));
    trio.ada.see("a newcomer", newcomer).await?;
    let words = format!("welcome, number {round}");
    Ok((trio.world.human_says(&trio.ada, &trio.room.id, &words).await?, words))
}

fn puppet_that_joined(event: &Value) -> Option<&str> {
    // one with a picture has come before: it is put on a while after the join
    let first = event["content"]["avatar_url"].is_null();
    let joined = event["kind"] == "member" && event["content"]["membership"] == "join" && first;
    event["stateKey"].as_str().filter(|user| joined && user.starts_with("@agent_"))
}

/// A person accepts and reads at once what the agents say in that second.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn agents_speak_in_the_second_of_a_persons_join(
    #[values(Devices::Pushed, Devices::Pulled, Devices::OwnToken)] devices: Devices,
) -> Result<()> {
    let trio = Trio::start(Plan { devices, ..Plan::default() }).await?;
    let (world, room) = (&trio.world, &trio.room);
    trio.all_talk("who else").await?;
    let bob = world.human("bob", Client::Js).await?;
    let (joined, said) = tokio::join!(world.invite(&trio.owner, room, &bob), async {
        trio.ada.see_member(&room.id, &bob.user_id, "join").await?;
        world.agent_says(&trio.guest, "good to have you here").await
    },);
    joined?;
    let event_id = said?;
    for human in [&trio.ada, &bob] {
        person_reads(human, &event_id, "good to have you here").await?;
    }
    trio.human_talks(&bob, "good to be here").await?;
    let Trio { world, room, ada, .. } = trio;
    world.finish(&room.id, &[&ada, &bob]).await
}

/// What is said right after an invitation is for the invited as well, though its event has not come back to the bridge.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_speaks_at_once_to_whom_it_has_invited() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("who is missing").await?;
    let bob = trio.world.human("bob", Client::Js).await?;
    let path = format!("/me/private-rooms/{}/invitations", trio.room.number);
    let body = json!({"accountId": bob.user_id});
    trio.owner.call(Method::POST, &path, Some(&body)).await?.expect(204)?;
    let said = trio.world.agent_says(&trio.owner, "come in and sit down").await?;
    bob.accept(&trio.room.id).await?;
    person_reads(&bob, &said, "come in and sit down").await?;
    trio.human_talks(&bob, "here I am").await?;
    let Trio { world, room, ada, .. } = trio;
    world.finish(&room.id, &[&ada, &bob]).await
}

/// The bridge has been away while much was said and somebody came in, and an agent speaks before the homeserver has told
/// of that.
#[tokio::test(flavor = "multi_thread")]
async fn somebody_came_in_while_the_bridge_was_down() -> Result<()> {
    let world = World::start(Plan::default()).await?;
    let scout = world.stack.agent("Scout", None).await?;
    let (ada, bob) = (world.human("ada", Client::Js).await?, world.human("bob", Client::Js).await?);
    let lobby = ada.raw.join(&scout.room).await?;
    let puppet = ada.raw.member_named(&lobby, &scout.display_name).await?;
    let made =
        ada.obey("create_room", json!({"name": "Porch", "encrypted": true, "invite": [puppet]})).await?;
    let room = made["room"].as_str().unwrap_or_default().to_owned();
    scout.until_in(&room).await?;
    let scout = scout.turned_to(&room);
    let said = world.agent_says(&scout, "who is there").await?;
    person_reads(&ada, &said, "who is there").await?;

    let bridge = &world.stack.bridge;
    bridge.stop().await?;
    for number in 0..PILED_UP {
        ada.raw.say(&lobby, &format!("number {number}")).await?;
    }
    ada.obey("invite", json!({"room": room, "user": bob.user_id})).await?;
    bob.accept(&room).await?;
    bridge.start()?;
    bridge.ready().await?;
    let said = world.agent_says(&scout, "good evening to all").await?;
    for human in [&ada, &bob] {
        person_reads(human, &said, "good evening to all").await?;
    }
    let answer = world.human_says(&bob, &room, "good evening").await?;
    agent_reads(&scout, &answer, "good evening").await?;
    world.finish(&room, &[&ada, &bob]).await
}
