//! An agent and people talk in a lobby: what each side writes, the other side sees as its own kind of thing.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Person, Plan, SERVER_NAME, Stack, event_ids};
use serde_json::{Value, json};

mod common;
use common::{mentioning, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_lobby_that_the_bridge_made() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let room = ada.join(&format!("#lobby:{SERVER_NAME}")).await?;
    assert_eq!(ada.state(&room, "m.room.join_rules").await?["join_rule"], "public");
    assert_eq!(ada.state(&room, "m.room.history_visibility").await?["history_visibility"], "world_readable");
    assert_eq!(ada.state(&room, "m.room.encryption").await?, Value::Null);
    assert_eq!(ada.state(&room, "m.room.name").await?["name"], "The lobby");
    assert_eq!(ada.state(&room, "m.room.create").await?["room_version"], "12");
    whole_conversation(&stack, &ada, "lobby", &room).await?;
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn lobbies_that_a_person_made_earlier() -> Result<()> {
    let stack = Stack::prepare(Plan { lobbies: vec!["ten", "twelve"], ..Plan::default() }).await?;
    let ada = stack.person("ada")?;
    let mut rooms = Vec::new();
    for (slug, version) in [("ten", "10"), ("twelve", "12")] {
        let room = json!({"preset": "public_chat", "visibility": "public", "name": "Ada's", "room_version": version,
            "room_alias_name": slug});
        rooms.push((slug, ada.create_room(&room).await?));
    }
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    for (slug, room) in rooms {
        assert_eq!(
            ada.resolve(&format!("#{slug}:{SERVER_NAME}")).await?,
            room,
            "the bridge took another room"
        );
        whole_conversation(&stack, &ada, slug, &room).await?;
        moderation(&stack, &ada, slug, &room).await?;
    }
    stack.finish().await
}

async fn whole_conversation(stack: &Stack, ada: &Person, slug: &str, room: &str) -> Result<()> {
    let bob = stack.person(&format!("bob-{slug}"))?;
    bob.join(room).await?;
    let before = ada.say(room, "said before Scout came").await?;
    // Only somebody who is there already can tell that the bridge has it.
    let early = stack.agent("Early", Some(slug)).await?;
    early.hear(&before).await?;
    early.call(reqwest::Method::DELETE, "/me", None).await?.expect(204)?;
    let scout = arrive(stack, ada, slug, room, &before).await?;
    let puppet = ada.member_named(room, &scout.display_name).await?;
    agent_to_people(ada, &scout, room, &puppet).await?;
    people_to_agent(ada, &bob, &scout, room, &puppet).await?;
    other_kinds(ada, &scout, room).await?;
    changes(ada, &bob, &scout, room).await?;
    threads(ada, &scout, room).await?;
    two_agents(stack, ada, slug, &scout, &puppet).await?;
    nothing_but_what_was_said(ada, &scout, room, &puppet).await?;
    leave(ada, &scout, room, &puppet).await
}

async fn arrive(stack: &Stack, ada: &Person, slug: &str, room: &str, before: &str) -> Result<Agent> {
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

async fn agent_to_people(ada: &Person, scout: &Agent, room: &str, puppet: &str) -> Result<()> {
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

async fn people_to_agent(ada: &Person, bob: &Person, scout: &Agent, room: &str, puppet: &str) -> Result<()> {
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
async fn other_kinds(ada: &Person, scout: &Agent, room: &str) -> Result<()> {
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
async fn changes(ada: &Person, bob: &Person, scout: &Agent, room: &str) -> Result<()> {
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

async fn threads(ada: &Person, scout: &Agent, room: &str) -> Result<()> {
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

async fn two_agents(stack: &Stack, ada: &Person, slug: &str, scout: &Agent, puppet: &str) -> Result<()> {
    let helper = stack.agent("Helper", Some(slug)).await?;
    helper.settle_in().await?;
    let sent = scout.say("Helper, are you there?").await?;
    let heard = helper.hear(text(&sent["eventId"])).await?;
    assert_eq!(heard["messageId"], sent["submissionId"]);
    let agent = json!({"agentId": scout.agent_id, "displayName": scout.display_name, "matrixUserId": puppet});
    let actor =
        json!({"kind": "agent", "agent": agent, "displayName": scout.display_name, "matrixUserId": puppet});
    assert_eq!(heard["actor"], actor);
    let sent = helper.send(&json!({"text": "Yes", "mentions": [puppet]})).await?.expect(201)?;
    let heard = scout.hear(text(&sent["eventId"])).await?;
    assert_eq!((&heard["mentionsMe"], text(&heard["actor"]["kind"])), (&json!(true), "agent"));
    ada.see_event(text(&sent["eventId"])).await?;
    helper.call(reqwest::Method::DELETE, "/me", None).await?.expect(204).map(drop)
}

/// The agent heard all messages of others since it came, each once, in order, and nothing else; its own are history.
async fn nothing_but_what_was_said(ada: &Person, scout: &Agent, room: &str, puppet: &str) -> Result<()> {
    scout.hear(&ada.say(room, "that is the end of it").await?).await?;
    let timeline = ada.timeline(room).await?;
    let joined = timeline.iter().position(|e| e["state_key"] == puppet).unwrap_or_default();
    let since: Vec<&Value> = timeline[joined..].iter().filter(|e| is_message(e)).collect();
    let theirs: Vec<&str> =
        since.iter().filter(|e| e["sender"] != puppet).map(|e| text(&e["event_id"])).collect();
    let redacted: Vec<&str> = timeline.iter().filter(|e| is_empty(e)).map(|e| text(&e["event_id"])).collect();
    let heard = scout.heard();
    let heard: Vec<&str> =
        heard.iter().map(|m| text(&m["eventId"])).filter(|id| !redacted.contains(id)).collect();
    assert_eq!(heard, theirs);
    let mine: Vec<&str> =
        since.iter().filter(|e| e["sender"] == puppet).map(|e| text(&e["event_id"])).collect();
    let history = scout.history("limit=50").await?;
    let shown = history["messages"].as_array().into_iter().flatten();
    let shown_mine = shown.filter(|m| m["fromMe"] == true).count();
    assert!(shown_mine > 0 && shown_mine <= mine.len());
    Ok(())
}

fn is_message(event: &Value) -> bool {
    let kind = text(&event["type"]);
    let replaces = event["content"]["m.relates_to"]["rel_type"] == "m.replace";
    matches!(kind, "m.room.message" | "m.sticker" | "org.matrix.msc3381.poll.start")
        && !replaces
        && !is_empty(event)
}

/// What a redaction leaves of an event.
fn is_empty(event: &Value) -> bool {
    event["content"].as_object().is_none_or(|content| content.is_empty())
}

async fn leave(ada: &Person, scout: &Agent, room: &str, puppet: &str) -> Result<()> {
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
async fn moderation(stack: &Stack, ada: &Person, slug: &str, room: &str) -> Result<()> {
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

#[tokio::test(flavor = "multi_thread")]
async fn who_types_is_waited_for() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let scout = stack.agent("Scout", None).await?;
    let room = ada.join(&scout.room).await?;
    scout.settle_in().await?;
    let wait = {
        let scout = scout.clone();
        tokio::spawn(async move { scout.wait("wait=30&wake=all&settle=4").await })
    };
    ada.say(&room, "I have more to").await?;
    ada.typing(&room, true).await?;
    tokio::pin!(wait);
    // Longer than settle: only the typing can hold it.
    let early = tokio::time::timeout(std::time::Duration::from_secs(7), &mut wait).await;
    assert!(early.is_err(), "answered while the author was typing: {early:?}");
    ada.say(&room, "say").await?;
    ada.typing(&room, false).await?;
    let body = wait.await??.expect(200)?;
    assert_eq!(body["wake"]["reason"], "messages");
    assert_eq!(event_ids(&body).len(), 2, "{body}");
    stack.finish().await
}
