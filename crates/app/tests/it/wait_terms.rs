//! What a wait may be asked for.

use parlour_app::request::{Send, Wait, WakeInput};
use parlour_domain::{fault::Code, wait::Reason};
use parlour_testkit::{Bridge, Texts, wait};
use rstest::rstest;

use crate::support::{begin, generous, refused, settled};

#[tokio::test]
async fn wait_for_mentioned_outlives_a_restart() {
    let mut bridge = Bridge::start().await;
    let (ada, bob) = (bridge.hs.person("ada"), bridge.hs.person("bob"));
    let agent = settled(&bridge, "Robin").await;
    let ask = Wait { wait_for: vec!["mentioned".to_owned()], wake: None, ..wait(30) };
    assert_eq!(refused(agent.wait(ask.clone()).await), (Code::InvalidRequest, "waitFor".to_owned()));

    let mentions = vec![ada.user_id.clone(), bob.user_id.clone(), agent.user_id.to_string()];
    agent.send(Send { text: "you two?".to_owned(), mentions, ..Send::default() }).await.unwrap();
    bridge.crash_and_restart().await;
    let waiting = begin(&bridge, &agent, ask.clone()).await;
    ada.say(&bridge.lobby(), "yes");
    bridge.caught_up().await;
    assert!(!waiting.is_answered(), "Bob has not spoken");
    bridge.clock.advance(30_000);
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.texts()), (Reason::Timeout, vec!["yes".to_owned()]));
    assert_eq!(inbox.missing, [bob.user_id.as_str()]);

    let waiting = begin(&bridge, &agent, ask).await;
    bob.say(&bridge.lobby(), "me too");
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.missing.len(), inbox.event_ids.len()), (Reason::AllReplied, 0, 2));
}

#[tokio::test]
async fn a_digest_brings_what_woke_nobody() {
    let bridge = Bridge::with(generous).await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    ada.say(&bridge.lobby(), "chatter");
    bridge.caught_up().await;
    bridge.clock.advance(45_000);
    let ask = Wait { wake: Some(WakeInput::Mentions), digest: Some(1), ..wait(30) };
    let waiting = agent.wait(ask);
    bridge.clock.until_sleeping_for(15_000).await;
    bridge.clock.advance(15_000);
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.texts()), (Reason::Digest, vec!["chatter".to_owned()]));
    assert!(inbox.event_ids.is_empty());
}

#[tokio::test]
async fn from_and_reply_to_put_the_rule_aside() {
    let bridge = Bridge::start().await;
    let (ada, bob) = (bridge.hs.person("ada"), bridge.hs.person("bob"));
    let agent = settled(&bridge, "Robin").await;
    let sent = agent.say("a question").await.unwrap();
    let ask =
        Wait { from: vec![bob.user_id.clone()], reply_to: Some(sent.submission_id.to_string()), ..wait(30) };
    let waiting = begin(&bridge, &agent, ask.clone()).await;
    ada.say_to(&bridge.lobby(), agent.user_id.as_str(), "you there");
    bridge.caught_up().await;
    assert!(!waiting.is_answered());
    ada.reply(&bridge.lobby(), sent.event_id.unwrap().as_str(), "an answer");
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.event_ids.len(), inbox.messages.len()), (1, 2));
    agent.ack(inbox.messages[1].message.event_id.as_str()).await.unwrap();
    let waiting = begin(&bridge, &agent, ask).await;
    bob.say(&bridge.lobby(), "from Bob");
    assert_eq!(waiting.await.unwrap().texts(), ["from Bob"]);
}

#[tokio::test]
async fn mentions_only_gives_nothing_else() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    ada.say(&bridge.lobby(), "chatter");
    ada.say_to(&bridge.lobby(), agent.user_id.as_str(), "for you");
    ada.say(&bridge.lobby(), "more chatter");
    bridge.caught_up().await;
    let ask = Wait { mentions_only: true, wake: None, ..wait(30) };
    let inbox = agent.wait(ask).await.unwrap();
    assert_eq!((inbox.texts(), inbox.pending), (vec!["for you".to_owned()], 3));
    assert_eq!((inbox.skipped, inbox.remaining), (1, 1));
}

#[tokio::test]
async fn more_than_fits() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    for n in 1..=7 {
        match n {
            2 => ada.say_to(&bridge.lobby(), agent.user_id.as_str(), "2"),
            n => ada.say(&bridge.lobby(), &n.to_string()),
        };
    }
    bridge.caught_up().await;
    let ask = Wait { limit: Some(3), wake: Some(WakeInput::Mentions), ..wait(30) };
    let inbox = agent.wait(ask).await.unwrap();
    assert_eq!(inbox.texts(), ["2", "6", "7"]);
    assert_eq!((inbox.pending, inbox.skipped, inbox.remaining), (7, 4, 0));
    let one = agent.wait(Wait { limit: Some(0), ..wait(0) }).await.unwrap();
    assert_eq!((one.texts(), one.remaining), (vec!["1".to_owned()], 6));
}

#[tokio::test]
async fn no_more_than_fifty_at_once() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    for n in 0..60 {
        ada.say(&bridge.lobby(), &n.to_string());
    }
    bridge.caught_up().await;
    let inbox = agent.wait(Wait { limit: Some(99), ..wait(0) }).await.unwrap();
    assert_eq!((inbox.messages.len(), inbox.remaining), (50, 10));
}

#[rstest]
#[case(Wait { settle: Some(31), ..wait(1) }, "settle")]
#[case(Wait { digest: Some(0), ..wait(1) }, "digest")]
#[case(Wait { digest: Some(1441), ..wait(1) }, "digest")]
#[case(Wait { from: vec!["ada".to_owned()], ..wait(1) }, "from")]
#[case(Wait { wait_for: vec!["@ada".to_owned()], ..wait(1) }, "waitFor")]
#[case(Wait { reply_to: Some("x".to_owned()), ..wait(1) }, "replyTo")]
#[case(Wait { mentions_only: true, ..wait(1) }, "mentionsOnly")]
#[case(Wait { mentions_only: true, wake: None, digest: Some(1), ..wait(1) }, "mentionsOnly")]
#[tokio::test]
async fn what_makes_no_sense_names_its_field(#[case] ask: Wait, #[case] field: &str) {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    assert_eq!(refused(agent.wait(ask).await), (Code::InvalidRequest, field.to_owned()));
}
