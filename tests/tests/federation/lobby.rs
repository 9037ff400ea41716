//! A person of another homeserver and an agent talk in a lobby.

use anyhow::Result;
use parlour_tests::{Agent, Person, event_ids};
use serde_json::{Value, json};

use crate::common::{mentioning, text};

pub(crate) async fn people_to_agent(eve: &Person, scout: &Agent) -> Result<()> {
    let room = &scout.room;
    let plain = scout.hear(&eve.say(room, "Greetings from elsewhere").await?).await?;
    assert_eq!(
        plain["actor"],
        json!({"kind": "human", "displayName": "eve", "matrixUserId": eve.user_id}),
        "{plain}"
    );
    mentions_wake(eve, scout).await?;

    let mine = scout.say("Which server are you on?").await?;
    eve.see_event(text(&mine["eventId"])).await?;
    let answer = json!({"msgtype": "m.text", "body": "Another one", "m.mentions": {},
        "m.relates_to": {"m.in_reply_to": {"event_id": mine["eventId"]}}});
    let answer = scout.hear(&eve.message(room, &answer).await?).await?;
    assert_eq!(
        (&answer["replyToMessageId"], &answer["mentionsMe"]),
        (&mine["submissionId"], &json!(true)),
        "{answer}"
    );
    changes(eve, scout).await
}

/// Plain words do not end the wait, a mention does.
async fn mentions_wake(eve: &Person, scout: &Agent) -> Result<()> {
    let puppet = eve.member_named(&scout.room, &scout.display_name).await?;
    let wait = {
        let scout = scout.clone();
        tokio::spawn(async move { scout.wait("wait=30&wake=mentions&settle=0").await })
    };
    let plain = eve.say(&scout.room, "nobody in particular").await?;
    let meant = eve.message(&scout.room, &mentioning("Scout, look", &[&puppet])).await?;
    let woken = wait.await??.expect(200)?;
    assert_eq!(woken["wake"], json!({"reason": "messages", "eventIds": [meant]}), "{woken}");
    assert_eq!(event_ids(&woken), [&*plain, &*meant], "{woken}");
    assert_eq!(woken["messages"][1]["mentionsMe"], true, "{woken}");
    scout.remember(&woken);
    scout.ack(&meant).await.map(drop)
}

async fn changes(eve: &Person, scout: &Agent) -> Result<()> {
    let room = &scout.room;
    let edited = eve.say(room, "the frist version").await?;
    let gone = eve.say(room, "a slip of the tongue").await?;
    scout.hear(&gone).await?;
    eve.edit(room, &edited, "the first version").await?;
    eve.redact(room, &gone).await?;
    scout.hear(&eve.say(room, "that was all").await?).await?;
    let seen = scout.look_up(&[&edited, &gone]).await?;
    assert_eq!(event_ids(&seen), [&*edited], "{seen}");
    assert_eq!(seen["messages"][0]["conversation"]["text"], "the first version");
    Ok(())
}

/// Name, words, mention and reply, as the other homeserver has them.
pub(crate) async fn agent_to_people(eve: &Person, scout: &Agent) -> Result<()> {
    let room = &scout.room;
    let puppet = eve.member_named(room, &scout.display_name).await?;
    let question = eve.say(room, "Who are you?").await?;
    let heard = scout.hear(&question).await?;
    let answer = json!({"text": "An agent", "replyTo": heard["messageId"]});
    let sent = scout.send(&answer).await?.expect(201)?;
    let event = eve.see_event(text(&sent["eventId"])).await?;
    assert_eq!((text(&event["sender"]), text(&event["content"]["body"])), (&*puppet, "An agent"));
    assert_eq!(event["content"]["m.relates_to"], json!({"m.in_reply_to": {"event_id": question}}));
    assert_eq!(event["content"]["m.mentions"], json!({"user_ids": [eve.user_id]}));
    profile(eve, scout, &puppet).await
}

/// Asked of the other homeserver, which asks the one at home.
async fn profile(eve: &Person, scout: &Agent, puppet: &str) -> Result<()> {
    let path = format!("/profile/{}/displayname", parlour_tests::encode(puppet));
    let profile: Value = eve.call(reqwest::Method::GET, &path, None).await?.expect(200)?;
    assert_eq!(profile["displayname"], scout.display_name, "{profile}");
    Ok(())
}
