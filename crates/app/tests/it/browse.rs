//! Paging through a room.

use parlour_app::request::Browse;
use parlour_domain::fault::Code;
use parlour_testkit::{Agent, Bridge, Texts, browse};
use rstest::rstest;
use serde_json::json;

use crate::support::{code, refused, two_lobbies};

/// A lobby in which Ada said 1 to `count`, and an agent that came after.
async fn said(count: usize) -> (Bridge, Agent, Vec<String>) {
    let bridge = Bridge::start().await;
    let ada = bridge.hs.person("ada");
    let said = (1..=count).map(|n| ada.say(&bridge.lobby(), &n.to_string())).collect();
    bridge.caught_up().await;
    let agent = bridge.join("Robin").await;
    (bridge, agent, said)
}

#[tokio::test]
async fn backwards_in_pages_to_the_end() {
    let (_bridge, agent, _) = said(5).await;
    let first = agent.browse(browse(2)).await.unwrap();
    assert_eq!(first.messages.texts(), ["5", "4"]);
    let next = |before: &parlour_app::view::Browsed| Browse {
        before: before.next_cursor.as_ref().map(ToString::to_string),
        ..browse(2)
    };
    let second = agent.browse(next(&first)).await.unwrap();
    assert_eq!(second.messages.texts(), ["3", "2"]);
    let third = agent.browse(next(&second)).await.unwrap();
    assert_eq!((third.messages.texts(), third.next_cursor), (vec!["1".to_owned()], None));
}

#[tokio::test]
async fn forwards_and_around() {
    let (_bridge, agent, said) = said(9).await;
    let after = Browse { after: Some(said[3].clone()), ..browse(3) };
    let page = agent.browse(after).await.unwrap();
    assert_eq!((page.messages.texts(), page.next_cursor.unwrap().as_str()), (texts(&[5, 6, 7]), &*said[6]));
    let around = Browse { around: Some(said[4].clone()), ..browse(5) };
    let page = agent.browse(around).await.unwrap();
    assert_eq!((page.messages.texts(), page.next_cursor), (texts(&[2, 3, 4, 5, 6, 7]), None));
    let by_message = page.messages[0].message.message_id.to_string();
    let page = agent.browse(Browse { before: Some(by_message), ..browse(5) }).await.unwrap();
    assert_eq!(page.messages.texts(), ["1"]);
}

fn texts(numbers: &[i32]) -> Vec<String> {
    numbers.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn by_author_and_by_mention() {
    let bridge = Bridge::start().await;
    let (ada, bob) = (bridge.hs.person("ada"), bridge.hs.person("Bob"));
    ada.join(&bridge.lobby());
    bob.join(&bridge.lobby());
    let agent = bridge.join("Robin").await;
    ada.say(&bridge.lobby(), "from Ada");
    bob.say_to(&bridge.lobby(), agent.user_id.as_str(), "from Bob");
    agent.say("from me").await.unwrap();
    bridge.caught_up().await;
    let from = |who: &str| Browse { from: Some(who.to_owned()), ..browse(9) };
    assert_eq!(agent.browse(from(&ada.user_id)).await.unwrap().messages.texts(), ["from Ada"]);
    assert_eq!(agent.browse(from("BOB")).await.unwrap().messages.texts(), ["from Bob"]);
    assert_eq!(agent.browse(from(&agent.display_name)).await.unwrap().messages.texts(), ["from me"]);
    assert!(agent.browse(from("bo")).await.unwrap().messages.is_empty());
    let mine = Browse { mentions_me: true, ..browse(9) };
    assert_eq!(agent.browse(mine).await.unwrap().messages.texts(), ["from Bob"]);
}

fn at(field: &str) -> Browse {
    let id = || Some("$event".to_owned());
    match field {
        "around" => Browse { around: id(), before: id(), ..browse(5) },
        "after" => Browse { before: id(), after: id(), ..browse(5) },
        "id" => Browse { before: Some("nonsense".to_owned()), ..browse(5) },
        _ => browse(51),
    }
}

#[rstest]
#[case("around")]
#[case("after")]
#[case("id")]
#[case("limit")]
#[tokio::test]
async fn what_makes_no_sense_names_its_field(#[case] field: &str) {
    let (_bridge, agent, _) = said(1).await;
    assert_eq!(refused(agent.browse(at(field)).await), (Code::InvalidRequest, field.to_owned()));
    if field == "limit" {
        assert_eq!(refused(agent.browse(browse(0)).await).1, "limit");
    }
    if field == "around" {
        let filtered = Browse { around: Some("$event".to_owned()), mentions_me: true, ..browse(5) };
        assert_eq!(refused(agent.browse(filtered).await).1, "around");
    }
}

#[tokio::test]
async fn an_anchor_that_is_not_there_and_rooms_that_are_not_mine() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    let garden = bridge.hs.room("garden").unwrap();
    let there = ada.say(&garden, "there");
    bridge.caught_up().await;
    let before = Browse { before: Some(there), ..browse(5) };
    assert_eq!(code(agent.browse(before).await), Code::MessageNotFound);
    let elsewhere = Browse { room_id: Some(garden.clone()), ..browse(5) };
    assert_eq!(code(agent.browse(elsewhere.clone()).await), Code::RoomNotJoined);
    agent.enter("garden", bridge.stranger()).await.unwrap();
    assert_eq!(agent.browse(elsewhere).await.unwrap().messages.texts(), ["there"]);
    assert_eq!(code(agent.browse(browse(5)).await), Code::RoomRequired);
}

/// The visibility in force at each message, and the time of membership, decide.
#[tokio::test]
async fn history_for_members_only_hides_what_came_before() {
    let bridge = Bridge::start().await;
    let (ada, lobby) = (bridge.hs.person("ada"), bridge.lobby());
    ada.say(&lobby, "for all the world");
    ada.set_state(&lobby, "m.room.history_visibility", json!({"history_visibility": "joined"}));
    let hidden = ada.say(&lobby, "for members");
    bridge.caught_up().await;
    let agent = bridge.join("Robin").await;
    let answer = ada.reply(&lobby, &hidden, "since you came");
    bridge.caught_up().await;
    let page = agent.browse(browse(9)).await.unwrap();
    assert_eq!(page.messages.texts(), ["since you came", "for all the world"]);
    let seen = &page.messages[0];
    assert!(seen.quote.is_none(), "an excerpt would tell what was hidden");
    assert!(seen.reply_to.is_some());
    assert_eq!(agent.lookup(&[&hidden, &answer]).await.unwrap().missing, [&*hidden]);
    let around = Browse { around: Some(hidden.clone()), ..browse(5) };
    assert_eq!(code(agent.browse(around).await), Code::MessageNotFound);
    let answering = parlour_app::request::Send { reply_to: Some(hidden), ..crate::support::text("?") };
    assert_eq!(refused(agent.send(answering).await).1, "replyTo");
    assert_eq!(agent.look().await.unwrap().texts(), ["for all the world", "since you came"]);
}

#[tokio::test]
async fn a_quote_shows_what_is_answered() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    ada.join(&bridge.lobby());
    let sent = agent.say(&"word ".repeat(50)).await.unwrap();
    ada.reply(&bridge.lobby(), sent.event_id.unwrap().as_str(), "indeed");
    bridge.caught_up().await;
    let page = agent.browse(browse(1)).await.unwrap();
    let (seen, quote) = (&page.messages[0], page.messages[0].quote.as_ref().unwrap());
    assert!(seen.mentions_me);
    assert_eq!(seen.reply_to.as_deref(), Some(&*sent.submission_id.to_string()));
    assert_eq!((quote.message_id, &quote.actor_name), (sent.submission_id, &agent.display_name));
    assert_eq!(quote.excerpt.chars().count(), 120);
}
