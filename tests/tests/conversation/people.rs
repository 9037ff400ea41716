//! What people say, as the agent sees it.

use anyhow::Result;
use parlour_tests::{Agent, Person, event_ids};
use serde_json::{Value, json};

use super::common::{mentioning, text};

pub(crate) async fn people_to_agent(
    ada: &Person,
    bob: &Person,
    scout: &Agent,
    room: &str,
    puppet: &str,
) -> Result<()> {
    let plain = scout.hear(&ada.say(room, "Nice to meet you").await?).await?;
    let shown = ada.member_named(room, "ada").await?;
    assert_eq!(plain["actor"], json!({"kind": "human", "displayName": "ada", "matrixUserId": shown}));
    assert_eq!(plain["conversation"], json!({"text": "Nice to meet you", "mentions": []}));
    assert_eq!(
        (&plain["fromMe"], &plain["mentionsMe"], &plain["beforeJoin"]),
        (&json!(false), &json!(false), &json!(false))
    );
    assert_eq!(
        (&plain["replyToMessageId"], plain.get("replyTo"), plain.get("mentionsEveryone")),
        (&Value::Null, None, None)
    );
    assert_eq!((text(&plain["roomId"]), plain["createdAtUnixMs"].is_i64()), (room, true));

    let mentioned = scout.hear(&ada.message(room, &mentioning("Look here", &[puppet])).await?).await?;
    assert_eq!(
        (&mentioned["mentionsMe"], &mentioned["conversation"]["mentions"]),
        (&json!(true), &json!([puppet]))
    );
    let other = scout.hear(&ada.message(room, &mentioning("Bob, look", &[&bob.user_id])).await?).await?;
    assert_eq!(
        (&other["mentionsMe"], &other["conversation"]["mentions"]),
        (&json!(false), &json!([bob.user_id]))
    );
    // A client from before m.mentions: a pill, and one that only writes the name.
    let pill = json!({"msgtype": "m.text", "body": "Scout: hi", "format": "org.matrix.custom.html",
        "formatted_body": format!("<a href=\"https://matrix.to/#/{puppet}\">Scout</a>: hi")});
    assert_eq!(scout.hear(&ada.message(room, &pill).await?).await?["mentionsMe"], true);
    let name_only = json!({"msgtype": "m.text", "body": format!("{}: hi", scout.display_name)});
    assert_eq!(scout.hear(&ada.message(room, &name_only).await?).await?["mentionsMe"], false);
    // A public room has no @everyone.
    let everyone = json!({"msgtype": "m.text", "body": "@room", "m.mentions": {"room": true}});
    let everyone = scout.hear(&ada.message(room, &everyone).await?).await?;
    assert_eq!((&everyone["mentionsMe"], everyone.get("mentionsEveryone")), (&json!(false), None));
    replies(ada, bob, scout, room).await
}

async fn replies(ada: &Person, bob: &Person, scout: &Agent, room: &str) -> Result<()> {
    let mine = scout.say("What is the time?").await?;
    let to_mine = json!({"m.in_reply_to": {"event_id": mine["eventId"]}});
    let plain = json!({"msgtype": "m.text", "body": "Noon", "m.mentions": {}, "m.relates_to": to_mine});
    let plain = scout.hear(&ada.message(room, &plain).await?).await?;
    assert_eq!((text(&plain["conversation"]["text"]), &plain["mentionsMe"]), ("Noon", &json!(true)));
    assert_eq!(plain["replyToMessageId"], mine["submissionId"]);
    let quote = json!({"messageId": mine["submissionId"], "actorName": scout.display_name, "excerpt": "What is the time?"});
    assert_eq!(plain["replyTo"], quote);

    let body = format!("> <{}> What is the time?\n\nTwelve", ada.user_id);
    let quoting = json!({"msgtype": "m.text", "body": body, "m.relates_to": to_mine});
    let quoting = scout.hear(&bob.message(room, &quoting).await?).await?;
    assert_eq!((text(&quoting["conversation"]["text"]), &quoting["mentionsMe"]), ("Twelve", &json!(true)));
    assert_eq!(quoting["replyToMessageId"], mine["submissionId"]);

    let answer = json!({"msgtype": "m.text", "body": "Ada is right", "m.mentions": {},
        "m.relates_to": {"m.in_reply_to": {"event_id": plain["eventId"]}}});
    let to_other = scout.hear(&bob.message(room, &answer).await?).await?;
    assert_eq!(
        (&to_other["replyToMessageId"], &to_other["mentionsMe"]),
        (&plain["messageId"], &json!(false))
    );
    Ok(())
}

/// Pictures, polls and the like come as readable text; what is no message does not come.
pub(crate) async fn other_kinds(ada: &Person, scout: &Agent, room: &str) -> Result<()> {
    let image = json!({"msgtype": "m.image", "body": "cat.png", "url": "mxc://hs.test/a", "info": {"mimetype": "image/png"}});
    let captioned = json!({"msgtype": "m.file", "body": "the report", "filename": "report.pdf", "url": "mxc://hs.test/b"});
    let poll = json!({"org.matrix.msc3381.poll.start": {"question": {"org.matrix.msc1767.text": "Lunch?"},
        "answers": [{"id": "1", "org.matrix.msc1767.text": "Soup"}, {"id": "2", "org.matrix.msc1767.text": "Salad"}]}});
    let kinds = [
        ("m.room.message", json!({"msgtype": "m.emote", "body": "waves"}), vec!["waves"], None),
        ("m.room.message", json!({"msgtype": "m.notice", "body": "a notice"}), vec!["a notice"], None),
        ("m.room.message", image, vec!["cat.png"], Some("cat.png")),
        ("m.room.message", captioned, vec!["the report"], Some("report.pdf")),
        (
            "m.room.message",
            json!({"msgtype": "m.location", "body": "Here", "geo_uri": "geo:1,2"}),
            vec!["Here", "geo:1,2"],
            None,
        ),
        (
            "m.room.message",
            json!({"msgtype": "org.example.new", "body": "a new kind"}),
            vec!["a new kind"],
            None,
        ),
        (
            "m.sticker",
            json!({"body": "a sticker", "url": "mxc://hs.test/c", "info": {}}),
            vec!["a sticker"],
            None,
        ),
        ("org.matrix.msc3381.poll.start", poll, vec!["Lunch?", "Soup", "Salad"], None),
    ];
    for (kind, content, words, attachment) in kinds {
        let heard = scout.hear(&ada.send(room, kind, &content).await?).await?;
        let said = text(&heard["conversation"]["text"]);
        assert!(words.iter().all(|word| said.contains(word)), "{kind}: {said}");
        assert_eq!(heard["conversation"]["attachmentName"].as_str(), attachment, "{heard}");
    }
    let target = scout.say("React to this").await?["eventId"].clone();
    let reaction = json!({"m.relates_to": {"rel_type": "m.annotation", "event_id": target, "key": "👍"}});
    let silent = [
        ada.send(room, "m.reaction", &reaction).await?,
        ada.send(room, "org.example.thing", &json!({"body": "not for reading"})).await?,
    ];
    scout.hear(&ada.say(room, "after the silent ones").await?).await?;
    assert!(scout.heard().iter().all(|m| !silent.contains(&text(&m["eventId"]).to_owned())));
    Ok(())
}

/// Edits and redactions change what is there, and wake nobody.
pub(crate) async fn changes(ada: &Person, bob: &Person, scout: &Agent, room: &str) -> Result<()> {
    let edited = ada.say(room, "the frist version").await?;
    let gone = ada.say(room, "a slip of the tongue").await?;
    let first = scout.hear(&gone).await?;
    ada.edit(room, &edited, "the first version").await?;
    bob.edit(room, &edited, "not Bob's to change").await?;
    ada.redact(room, &gone).await?;
    // Whoever reads the inbox afterwards finds it changed already, without having acknowledged anything in between.
    let unread = ada.say(room, "the secnd version").await?;
    let unread_gone = ada.say(room, "another slip").await?;
    ada.edit(room, &unread, "the second version").await?;
    ada.redact(room, &unread_gone).await?;
    let last = ada.say(room, "that was all").await?;
    let inbox = until_there(scout, &last).await?;
    assert_eq!(event_ids(&inbox), [&*unread, &*last], "{inbox}");
    assert_eq!(inbox["messages"][0]["conversation"]["text"], "the second version");
    assert_eq!(inbox["pending"], 2);
    assert_eq!(scout.ack(&last).await?["pending"], 0);
    scout.remember(&inbox);

    let seen = scout.look_up(&[&edited, &gone, &unread_gone]).await?;
    assert_eq!(event_ids(&seen), [&*edited], "{seen}");
    assert_eq!(seen["messages"][0]["conversation"]["text"], "the first version");
    assert_eq!(seen["missing"], json!([gone, unread_gone]));
    let history = event_ids(&scout.history("limit=50").await?);
    assert!(history.contains(&edited) && !history.contains(&gone) && !history.contains(&unread_gone));
    assert_eq!(first["conversation"]["text"], "a slip of the tongue", "it had been there");
    Ok(())
}

/// Waits without acknowledging until this event is in the inbox.
async fn until_there(scout: &Agent, event_id: &str) -> Result<Value> {
    parlour_tests::until("the inbox to have it", 60, async || {
        let body = scout.wait("wait=0&limit=50&wake=all").await?.expect(200)?;
        Ok(event_ids(&body).iter().any(|id| id == event_id).then_some(body))
    })
    .await
}
