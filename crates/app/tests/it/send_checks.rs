//! What is checked before a message costs anything, and in which order.

use parlour_app::request::Send;
use parlour_domain::fault::Code;
use parlour_testkit::{Agent, Bridge, Call, Texts, browse, named};
use rstest::rstest;

use crate::support::{code, encrypted_room, id, refused, text, two_lobbies};

/// Everything about it is wrong but what the parameters put right, from the first check on.
fn wrong_from(check: usize) -> Send {
    let good = Send { room_id: Some("lobby".to_owned()), submission_id: Some(id(1)), ..text("fine") };
    Send {
        room_id: Some(if check > 0 { "lobby" } else { "!nowhere" }.to_owned()),
        submission_id: if check > 1 { good.submission_id } else { Some("no uuid".to_owned()) },
        mentions_everyone: check <= 2,
        text: if check > 3 { good.text } else { "x".repeat(4_001) },
        mentions: if check > 4 { vec![] } else { vec!["ada".to_owned()] },
        reply_to: if check > 5 { None } else { Some("$nothing".to_owned()) },
    }
}

#[tokio::test]
async fn the_order_of_checks() {
    let bridge = Bridge::with(|s| {
        two_lobbies(s);
        s.settings.limits.lobby_messages_per_agent_minute = 1;
    })
    .await;
    let agent = bridge.join("Robin").await;
    agent.enter("garden", bridge.stranger()).await.unwrap();
    agent.send(Send { room_id: Some(bridge.lobby()), ..text("the only one") }).await.unwrap();
    let expected = [
        (Code::RoomNotJoined, "roomId"),
        (Code::InvalidMessage, "submissionId"),
        (Code::InvalidMessage, "mentionsEveryone"),
        (Code::InvalidMessage, "text"),
        (Code::InvalidMessage, "mentions"),
        (Code::InvalidMessage, "replyTo"),
        (Code::RateLimited, ""),
    ];
    for (check, (code, field)) in expected.into_iter().enumerate() {
        let mut ask = wrong_from(check);
        if check > 0 {
            ask.room_id = Some(bridge.lobby());
        }
        assert_eq!(refused(agent.send(ask).await), (code, field.to_owned()), "check {check}");
    }
    let nowhere = Send { room_id: None, ..wrong_from(0) };
    assert_eq!(code(agent.send(nowhere).await), Code::RoomRequired);
    assert_eq!(bridge.hs.calls(Call::Send), 1, "none of them reached the homeserver");
}

/// A homeserver without devices: nothing can be encrypted. That is told before anything else about the message is looked
/// at, and after what it is about.
#[tokio::test]
async fn encryption_has_its_place_in_the_order() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    let room = encrypted_room(&ada, &agent).await;
    for check in 0..7 {
        let expected = match check {
            0 => (Code::RoomNotJoined, "roomId"),
            1 => (Code::InvalidMessage, "submissionId"),
            _ => (Code::DependencyUnavailable, ""),
        };
        let mut ask = wrong_from(check);
        if check > 0 {
            ask.room_id = Some(room.clone());
        }
        assert_eq!(refused(agent.send(ask).await), (expected.0, expected.1.to_owned()), "check {check}");
    }
    assert_eq!(bridge.hs.calls(Call::Send), 0);
}

#[rstest]
#[case(text(""), "text")]
#[case(text(" \n\t"), "text")]
#[case(text("a\0b"), "text")]
#[case(Send { mentions: vec!["@ada:example.org".to_owned(); 201], ..text("x") }, "mentions")]
#[case(Send { mentions: vec!["#lobby:example.org".to_owned()], ..text("x") }, "mentions")]
#[case(Send { reply_to: Some("neither".to_owned()), ..text("x") }, "replyTo")]
#[case(Send { reply_to: Some(id(9)), ..text("x") }, "replyTo")]
#[case(Send { submission_id: Some("0199aaaa-0000-4000-8000-000000000001".to_owned()), ..text("x") }, "submissionId")]
#[case(Send { submission_id: Some(String::new()), ..text("x") }, "submissionId")]
#[tokio::test]
async fn a_message_that_cannot_be_sent_names_its_field(#[case] ask: Send, #[case] field: &str) {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    assert_eq!(refused(agent.send(ask).await), (Code::InvalidMessage, field.to_owned()));
    agent.say("it cost nothing").await.unwrap();
}

#[tokio::test]
async fn as_much_as_is_allowed_goes_through() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    let mentions = (0..200).map(|n| format!("@user{n}:example.org")).collect();
    let ask = Send { mentions, ..text(&"é".repeat(4_000)) };
    agent.send(ask).await.unwrap();
}

#[tokio::test]
async fn more_than_an_event_can_hold_costs_nothing() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    let long = |n| format!("@{n:0>200}:{}.example.org", "a".repeat(40));
    // control characters are escaped to six bytes each
    let ask = Send { mentions: (0..200).map(long).collect(), ..text(&format!("x{}", "\u{1}".repeat(3_999))) };
    assert_eq!(refused(agent.send(ask).await), (Code::InvalidMessage, "mentions".to_owned()));
    agent.say("it cost nothing").await.unwrap();
}

#[tokio::test]
async fn quotas_of_an_agent_and_of_a_lobby() {
    let bridge = Bridge::with(|s| {
        s.settings.limits.lobby_messages_per_agent_minute = 2;
        s.settings.limits.lobby_messages_per_lobby_minute = 3;
    })
    .await;
    let (robin, wren) = (bridge.join("Robin").await, bridge.join("Wren").await);
    robin.send(named(&id(1), "one")).await.unwrap();
    robin.send(named(&id(2), "two")).await.unwrap();
    bridge.clock.advance(20_000);
    let fault = robin.say("three").await.unwrap_err();
    assert_eq!((fault.code, fault.retry_after_s), (Code::RateLimited, Some(40)));
    robin.send(named(&id(2), "two")).await.expect("the same again costs nothing");
    wren.say("one").await.unwrap();
    assert_eq!(code(wren.say("the lobby is full of words").await), Code::RateLimited);
    bridge.clock.advance(40_000);
    wren.say("the lobby's window is over").await.unwrap();
}

#[tokio::test]
async fn what_was_refused_for_a_quota_can_be_sent_later_under_its_id() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    agent.say("one").await.unwrap();
    assert_eq!(code(agent.send(named(&id(2), "two")).await), Code::RateLimited);
    bridge.clock.advance(60_000);
    agent.send(named(&id(2), "two")).await.unwrap();
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["one", "two"]);
}

async fn reply(agent: &Agent, to: &str) -> Send {
    let sent = agent.send(Send { reply_to: Some(to.to_owned()), ..text("an answer") }).await.unwrap();
    let seen = agent.browse(browse(1)).await.unwrap();
    assert_eq!(seen.messages[0].message.event_id, sent.event_id.unwrap());
    Send::default()
}

#[tokio::test]
async fn a_reply_by_event_id_and_by_message_id() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    let asked = ada.say(&bridge.lobby(), "a question");
    bridge.caught_up().await;
    let seen = agent.look().await.unwrap().messages.remove(0);
    reply(&agent, &asked).await;
    reply(&agent, &seen.message.message_id.to_string()).await;
    for event in &bridge.hs.messages(&bridge.lobby())[1..] {
        let content = &event["content"];
        assert_eq!(content["m.relates_to"]["m.in_reply_to"]["event_id"], asked);
        assert_eq!(content["m.mentions"]["user_ids"][0], ada.user_id, "so that clients notify");
    }
}

#[tokio::test]
async fn people_get_an_ordinary_message() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    agent.say("plain").await.unwrap();
    let mentions = vec![ada.user_id.clone(), ada.user_id.clone()];
    agent.send(Send { mentions, ..text("to Ada") }).await.unwrap();
    let events = bridge.hs.messages(&bridge.lobby());
    assert_eq!(events[0]["content"]["msgtype"], "m.text");
    assert_eq!(events[0]["content"]["m.mentions"], serde_json::json!({}));
    assert_eq!(events[0]["sender"], agent.user_id.as_str());
    assert_eq!(events[1]["content"]["m.mentions"], serde_json::json!({"user_ids": [ada.user_id]}));
}

#[tokio::test]
async fn an_agent_whom_idleness_took_out_is_checked_before_it_is_told_that_all_is_full() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_agents = 1).await;
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    bridge.clock.advance(3_600_000);
    let (lobby, user) = (bridge.lobby(), agent.user_id.to_string());
    bridge.hs.until("it is out", |hs| !hs.is_joined(&lobby, &user)).await;
    bridge.join("Wren").await;
    assert_eq!(refused(agent.say("").await), (Code::InvalidMessage, "text".to_owned()));
    assert_eq!(code(agent.say("hello").await), Code::CapacityReached);
    assert!(agent.browse(browse(1)).await.unwrap().messages.texts().is_empty());
}
