//! What the agent says, as people see it.

use anyhow::Result;
use parlour_tests::{Agent, Person};
use serde_json::{Value, json};

use super::common::text;

pub(crate) async fn agent_to_people(ada: &Person, scout: &Agent, room: &str, puppet: &str) -> Result<()> {
    let sent = scout.say("Hello, everybody").await?;
    let event = ada.see_event(text(&sent["eventId"])).await?;
    assert_eq!(
        (text(&event["type"]), text(&event["sender"]), text(&event["room_id"])),
        ("m.room.message", puppet, room)
    );
    assert_eq!(
        (text(&event["content"]["msgtype"]), text(&event["content"]["body"])),
        ("m.text", "Hello, everybody")
    );
    assert_eq!(event["content"]["m.mentions"], json!({}));
    assert!(event["content"].get("m.relates_to").is_none());

    let sent = scout.send(&json!({"text": "Ada?", "mentions": [ada.user_id]})).await?.expect(201)?;
    assert_eq!((text(&sent["status"]), text(&sent["roomId"])), ("sent", room));
    let event = ada.see_event(text(&sent["eventId"])).await?;
    assert_eq!(event["content"]["m.mentions"], json!({"user_ids": [ada.user_id]}));

    let question = ada.say(room, "Who are you?").await?;
    let heard = scout.hear(&question).await?;
    let answer = json!({"text": "An agent", "replyTo": heard["messageId"]});
    let sent = scout.send(&answer).await?.expect(201)?;
    let event = ada.see_event(text(&sent["eventId"])).await?;
    assert_eq!(event["content"]["m.relates_to"], json!({"m.in_reply_to": {"event_id": question}}));
    assert_eq!(
        event["content"]["m.mentions"],
        json!({"user_ids": [ada.user_id]}),
        "a reply notifies its author"
    );
    let seen = scout.look_up(&[text(&sent["submissionId"])]).await?;
    assert_eq!(seen["messages"][0]["eventId"], sent["eventId"]);
    assert_eq!(seen["messages"][0]["fromMe"], true);
    assert_eq!(seen["messages"][0]["replyToMessageId"], heard["messageId"]);
    Ok(())
}

pub(crate) async fn threads(ada: &Person, scout: &Agent, room: &str) -> Result<()> {
    let root = ada.say(room, "the root of a thread").await?;
    let in_thread = |body: &str| {
        json!({"msgtype": "m.text", "body": body, "m.mentions": {}, "m.relates_to": {"rel_type": "m.thread",
            "event_id": root, "is_falling_back": true, "m.in_reply_to": {"event_id": root}}})
    };
    let heard = scout.hear(&ada.message(room, &in_thread("in the thread")).await?).await?;
    assert_eq!(heard["replyToMessageId"], Value::Null, "a fallback is no reply");
    let sent =
        scout.send(&json!({"text": "I stay in it", "replyTo": heard["eventId"]})).await?.expect(201)?;
    let relation = ada.see_event(text(&sent["eventId"])).await?["content"]["m.relates_to"].clone();
    assert_eq!((text(&relation["rel_type"]), text(&relation["event_id"])), ("m.thread", &*root));
    assert_eq!(relation["m.in_reply_to"]["event_id"], heard["eventId"]);
    assert_ne!(relation["is_falling_back"], true);
    Ok(())
}
