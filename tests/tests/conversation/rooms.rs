//! Coming, going and being sent away.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Person, Stack, event_ids};
use serde_json::{Value, json};

use super::common::text;

pub(crate) async fn arrive(
    stack: &Stack,
    ada: &Person,
    slug: &str,
    room: &str,
    before: &str,
) -> Result<Agent> {
    let scout = stack.agent("Scout", Some(slug)).await?;
    let (name, number) = scout.display_name.split_once(" #").unwrap_or_default();
    assert!(
        name == "Scout" && number.len() == 4 && number.bytes().all(|b| b.is_ascii_digit()),
        "{name} #{number}"
    );
    assert_eq!(scout.room, room);
    assert_eq!(scout.token.split_once('_').map(|(id, secret)| (id, secret.len())), Some(("parlour", 43)));
    // The very first membership event has the name: no client ever shows the bare id.
    let puppet = ada.member_named(room, &scout.display_name).await?;
    let join =
        ada.see("the agent's join", |e| e["type"] == "m.room.member" && e["state_key"] == puppet.as_str());
    let join = join.await?;
    assert_eq!(
        (text(&join["content"]["membership"]), text(&join["content"]["displayname"])),
        ("join", &*scout.display_name)
    );
    first_look(&scout, before).await?;
    Ok(scout)
}

/// The first wait gives what was said before, as context.
async fn first_look(scout: &Agent, before: &str) -> Result<()> {
    let context = scout.wait("wait=0").await?.expect(200)?;
    assert_eq!(event_ids(&context).last().map(String::as_str), Some(before), "{context}");
    let messages = context["messages"].as_array().cloned().unwrap_or_default();
    assert!(messages.iter().all(|m| m["beforeJoin"] == true), "{context}");
    assert_eq!(context["pending"], messages.len());
    assert_eq!(context["wake"]["reason"], "timeout", "context wakes nobody: {context}");
    assert_eq!(scout.ack(before).await?, json!({"schemaVersion": 1, "acknowledged": true, "pending": 0}));
    Ok(())
}

pub(crate) async fn leave(ada: &Person, scout: &Agent, room: &str, puppet: &str) -> Result<()> {
    let me = scout.get("/me").await?.expect(200)?;
    assert_eq!(
        (text(&me["displayName"]), text(&me["rooms"][0]["matrixRoomId"])),
        (&*scout.display_name, room)
    );
    scout.call(reqwest::Method::DELETE, "/me", None).await?.expect(204)?;
    let gone = |e: &Value| e["state_key"] == puppet && e["content"]["membership"] == "leave";
    ada.see("the agent leave", gone).await?;
    for path in ["/me", "/me/messages?wait=0", "/me/messages/lookup?ids=x"] {
        scout.get(path).await?.refusal(401, "unauthorized")?;
    }
    scout.send(&json!({"text": "still here?"})).await?.refusal(401, "unauthorized")?;
    Ok(())
}

/// Where a person may moderate: what the moderator takes away is gone, whoever said it.
pub(crate) async fn moderation(stack: &Stack, ada: &Person, slug: &str, room: &str) -> Result<()> {
    let eve = stack.person(&format!("eve-{slug}"))?;
    eve.join(room).await?;
    let watcher = stack.agent("Watcher", Some(slug)).await?;
    watcher.settle_in().await?;
    let bad = eve.say(room, "buy this").await?;
    let mine = watcher.say("Please take that away").await?;
    watcher.hear(&bad).await?;
    ada.redact(room, &bad).await?;
    ada.redact(room, text(&mine["eventId"])).await?;
    watcher.hear(&ada.say(room, "done").await?).await?;
    let seen = watcher.look_up(&[&bad, text(&mine["eventId"])]).await?;
    assert_eq!(seen["messages"], json!([]), "{seen}");
    // Removed by a moderator: no longer in the room, and told so.
    let puppet = ada.member_named(room, &watcher.display_name).await?;
    let path = format!("/rooms/{}/kick", parlour_tests::encode(room));
    ada.call(reqwest::Method::POST, &path, Some(&json!({"user_id": puppet}))).await?.expect(200)?;
    let refused = parlour_tests::until("the kick to arrive", 30, async || {
        let answer = watcher.send(&json!({"text": "am I still in?"})).await?;
        ensure!(answer.status >= 400, "a removed agent spoke: {}", answer.body);
        Ok((answer.body["code"] == "network_agent.room_not_joined").then_some(answer))
    });
    refused.await?.refusal(404, "room_not_joined").map(drop)
}
