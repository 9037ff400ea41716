//! Rooms of agents' own, and rooms of people: who gets in by which way, and who stays out, against a real Synapse.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

use std::time::Instant;

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Answer, Fault, Person, Plan, Stack, encode};
use reqwest::Method;
use serde_json::{Value, json};

mod common;
use common::text;

async fn manage(
    owner: &Agent,
    method: Method,
    room: &str,
    more: &str,
    body: Option<&Value>,
) -> Result<Answer> {
    owner.call(method, &format!("/me/private-rooms/{}{more}", encode(room)), body).await
}

async fn make(owner: &Agent, name: &str) -> Result<Answer> {
    owner.call(Method::POST, "/me/private-rooms", Some(&json!({"name": name}))).await
}

async fn enter(agent: &Agent, body: Value) -> Result<Answer> {
    agent.call(Method::POST, "/me/rooms", Some(&body)).await
}

async fn membership(person: &Person, room: &str, user: &str) -> Result<String> {
    let path = format!("/rooms/{}/state/m.room.member/{}", encode(room), encode(user));
    let answer = person.call(Method::GET, &path, None).await?;
    Ok(text(&answer.body["membership"]).to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn by_code_by_knock_by_invitation_and_out_again() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let owner = stack.agent("Owner", None).await?;
    let guest = stack.agent("Guest", None).await?;
    let ada = stack.person("ada")?;
    for agent in [&owner, &guest] {
        agent.settle_in().await?;
    }

    let begun = Instant::now();
    let made = make(&owner, "Den").await?.expect(201)?;
    println!("making a room took {:?}", begun.elapsed());
    let (room, number) =
        (text(&made["room"]["matrixRoomId"]).to_owned(), text(&made["room"]["catalogId"]).to_owned());
    let code = text(&made["code"]["code"]).to_owned();
    stack.keep_secret(&code);
    ensure!(text(&made["share"]["en"]).contains(&code) && text(&made["share"]["zh"]).contains(&number));
    assert_eq!(make(&owner, "Den").await?.expect(200)?["room"], made["room"]);

    // a person, who is told who reads along, and what the room is
    let body = json!({"accountId": ada.user_id});
    manage(&owner, Method::POST, &number, "/invitations", Some(&body)).await?.expect(204)?;
    manage(&owner, Method::POST, &number, "/invitations", Some(&body)).await?.expect(204)?;
    let nobody = json!({"accountId": "@nobody:hs.test"});
    manage(&owner, Method::POST, &room, "/invitations", Some(&nobody))
        .await?
        .refusal(404, "account_not_found")?;
    ada.join(&room).await?;
    assert_eq!(ada.state(&room, "m.room.encryption").await?["algorithm"], "m.megolm.v1.aes-sha2");
    assert_eq!(ada.state(&room, "m.room.join_rules").await?["join_rule"], "knock");
    assert_eq!(ada.state(&room, "m.room.power_levels").await?["notifications"]["room"], 0);
    ensure!(text(&ada.state(&room, "m.room.topic").await?["topic"]).contains("can read what is said"));

    // an agent by code
    enter(&guest, json!({"code": "0123-4567-89AB"})).await?.refusal(404, "code_invalid")?;
    let begun = Instant::now();
    enter(&guest, json!({"code": code})).await?.expect(200)?;
    println!("entering by code took {:?}", begun.elapsed());
    let guest_id = ada.member_named(&room, &guest.display_name).await?;

    // put out: the old code opens nothing, a knock does
    manage(&owner, Method::DELETE, &number, &format!("/agents/{}", guest.agent_id), None)
        .await?
        .expect(204)?;
    assert_eq!(membership(&ada, &room, &guest_id).await?, "leave");
    enter(&guest, json!({"code": code})).await?.refusal(404, "code_invalid")?;
    let knock = enter(&guest, json!({"room": number})).await?.expect(202)?;
    assert_eq!(knock["knock"]["status"], "waiting");
    let woken = owner.wait("wait=30").await?.expect(200)?;
    assert_eq!(woken["wake"]["reason"], "knocks");
    assert_eq!(woken["incomingKnocks"][0]["agentId"], guest.agent_id);
    let at = format!("/knocks/{}", guest.agent_id);
    let admitted = manage(&owner, Method::PUT, &number, &at, None).await?.expect(200)?;
    assert_eq!(admitted["agent"]["displayName"], guest.display_name);
    assert_eq!(membership(&ada, &room, &guest_id).await?, "join");
    guest.until_in(&room).await?;

    // a stranger by knocking alone, turned away
    let body = json!({"name": "Stranger", "room": number});
    let stranger = Agent::ask_to_join(&stack.bridge.url(), &body).await?.expect(201)?;
    stack.keep_secret(text(&stranger["token"]));
    ensure!(stranger["room"].is_null() && stranger["knock"]["status"] == "waiting", "{stranger}");
    let at = format!("/knocks/{}", text(&stranger["agentId"]));
    manage(&owner, Method::DELETE, &number, &at, None).await?.expect(204)?;
    manage(&owner, Method::PUT, &number, &at, None).await?.refusal(404, "knock_not_found")?;

    // nothing in plain text, and nothing at all once it is closed
    let say = json!({"text": "secret", "roomId": room});
    let sent = guest.send(&say).await?.expect(201)?;
    assert_eq!(type_of(&ada, &room, text(&sent["eventId"])).await?, "m.room.encrypted");
    manage(&owner, Method::DELETE, &number, "", None).await?.expect(204)?;
    manage(&owner, Method::DELETE, &number, "", None).await?.expect(204)?;
    guest.send(&say).await?.refusal(403, "forbidden")?;
    owner.send(&say).await?.refusal(403, "forbidden")?;
    let said = ada.say(&room, "too late").await;
    ensure!(said.is_err(), "a person may still speak in a closed room");
    ensure!(
        ada.timeline(&room).await?.iter().all(|e| e["type"] != "m.room.message"),
        "plain text in the room"
    );
    let rooms = guest.get("/me").await?.expect(200)?["rooms"].as_array().map_or(0, Vec::len);
    assert_eq!(rooms, 2, "a closed room can be read");
    guest.history("limit=5").await?;
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_whose_answer_is_lost_is_one_room() -> Result<()> {
    let stack = Stack::start(Plan { proxy: true, ..Plan::default() }).await?;
    let owner = stack.agent("Owner", None).await?;
    let proxy = stack.proxy()?;
    proxy.set(Fault::LoseAnswer);
    let first = make(&owner, "Den").await?;
    proxy.caught(1).await?;
    proxy.set(Fault::None);
    ensure!([201, 503].contains(&first.status), "{first:?}");
    let again = make(&owner, "Den").await?.expect(200)?;
    assert_eq!(again["created"], false);
    owner.until_in(text(&again["room"]["matrixRoomId"])).await?;
    stack.bridge.restart().await?;
    assert_eq!(make(&owner, "Den").await?.expect(200)?["code"], again["code"]);
    let me = owner.get("/me").await?.expect(200)?;
    assert_eq!(me["rooms"].as_array().map(Vec::len), Some(2), "the lobby and one room: {me}");
    stack.finish().await
}

/// People ask to join as Matrix has it, and the agent that made the room answers.
#[tokio::test(flavor = "multi_thread")]
async fn people_knock_on_an_agents_room() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let owner = stack.agent("Owner", None).await?;
    owner.settle_in().await?;
    let made = make(&owner, "Den").await?.expect(201)?;
    let room = text(&made["room"]["matrixRoomId"]).to_owned();
    stack.keep_secret(text(&made["code"]["code"]));
    // the first call after coming into a room returns at once
    owner.settle_in().await?;
    for (localpart, admitted) in [("ada", true), ("eve", false)] {
        let person = stack.person(localpart)?;
        let knock = format!("/knock/{}", encode(&room));
        person.call(Method::POST, &knock, Some(&json!({"reason": "let me in"}))).await?.expect(200)?;
        let woken = owner.wait("wait=30").await?.expect(200)?;
        assert_eq!(woken["wake"]["reason"], "knocks", "{woken}");
        let knock = &woken["incomingKnocks"][0];
        assert_eq!(
            (&knock["matrixUserId"], text(&knock["displayName"])),
            (&json!(person.user_id), localpart)
        );
        let at = format!("/knocks/{}", text(&knock["agentId"]));
        if admitted {
            let answer = manage(&owner, Method::PUT, &room, &at, None).await?.expect(200)?;
            assert_eq!(answer["agent"]["agentId"], knock["agentId"]);
            person.join(&room).await?;
        } else {
            manage(&owner, Method::DELETE, &room, &at, None).await?.expect(204)?;
            let join = format!("/join/{}", encode(&room));
            let refused = person.call(Method::POST, &join, Some(&json!({}))).await?;
            ensure!(refused.status == 403, "turned away, and in all the same: {refused:?}");
        }
        let left = manage(&owner, Method::GET, &room, "/knocks", None).await?.expect(200)?;
        assert_eq!(left["knocks"], json!([]));
    }
    stack.finish().await
}

/// Versions 10 and 12: with the room's maker among the power levels, and above them.
#[tokio::test(flavor = "multi_thread")]
async fn in_rooms_of_people() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let scout = stack.agent("Scout", None).await?;
    scout.settle_in().await?;
    let ada = stack.person("ada")?;
    let puppet = {
        ada.join(&scout.room).await?;
        ada.member_named(&scout.room, &scout.display_name).await?
    };
    for version in ["10", "12"] {
        let body = json!({"preset": "private_chat", "room_version": version, "name": "Ada's"});
        let room = ada.create_room(&body).await?;
        ada.say(&room, "before").await?;
        let invite = format!("/rooms/{}/invite", encode(&room));
        ada.call(Method::POST, &invite, Some(&json!({"user_id": puppet}))).await?.expect(200)?;
        ada.call(Method::POST, &invite, Some(&json!({"user_id": "@agent_nobody:hs.test"}))).await?;
        let known = scout.until_in(&room).await?;
        assert_eq!(known["name"], "Ada's");
        let hello = ada.say(&room, "hello").await?;
        scout.hear(&hello).await?;
        let event = scout
            .send_until_sent(
                &json!({"text": "hi", "roomId": room, "submissionId": parlour_tests::fresh_uuid()}),
                30,
            )
            .await?;
        ada.see_event(&event).await?;

        // upgraded: the same number, and the conversation goes on
        let upgraded = format!("/rooms/{}/upgrade", encode(&room));
        let answer =
            ada.call(Method::POST, &upgraded, Some(&json!({"new_version": "12"}))).await?.expect(200)?;
        let new = text(&answer["replacement_room"]).to_owned();
        let invite = format!("/rooms/{}/invite", encode(&new));
        ada.call(Method::POST, &invite, Some(&json!({"user_id": puppet}))).await?.expect(200)?;
        let moved = scout.until_in(&new).await?;
        assert_eq!(moved["catalogId"], known["catalogId"], "the same number");
        let on = ada.say(&new, "here we are").await?;
        scout.hear(&on).await?;

        // encrypted from now on: nothing in plain text
        let encryption = format!("/rooms/{}/state/m.room.encryption/", encode(&new));
        let megolm = json!({"algorithm": "m.megolm.v1.aes-sha2"});
        ada.call(Method::PUT, &encryption, Some(&megolm)).await?.expect(200)?;
        let since = ada.say(&new, "encrypted from here on").await?;
        scout.hear(&since).await?;
        let body = json!({"text": "hm", "roomId": new, "submissionId": parlour_tests::fresh_uuid()});
        let sent = scout.send_until_sent(&body, 60).await?;
        assert_eq!(type_of(&ada, &new, &sent).await?, "m.room.encrypted");

        // put out by a person
        let kick = format!("/rooms/{}/kick", encode(&new));
        ada.call(Method::POST, &kick, Some(&json!({"user_id": puppet}))).await?.expect(200)?;
        scout.until_out(&new).await?;
    }
    stack.finish().await
}

/// As the homeserver has it.
async fn type_of(person: &Person, room: &str, event_id: &str) -> Result<String> {
    let path = format!("/rooms/{}/event/{}", encode(room), encode(event_id));
    let event = person.call(Method::GET, &path, None).await?.expect(200)?;
    Ok(text(&event["type"]).to_owned())
}
