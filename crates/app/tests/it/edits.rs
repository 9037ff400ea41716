//! New words for old ones, and deletions.

use parlour_testkit::{Agent, Bridge, Person, Texts, browse, wait};
use serde_json::json;

struct Scene {
    bridge: Bridge,
    ada: Person,
    bob: Person,
    agent: Agent,
    lobby: String,
}

async fn scene() -> Scene {
    let bridge = Bridge::start().await;
    let (ada, bob, lobby) = (bridge.hs.person("ada"), bridge.hs.person("bob"), bridge.lobby());
    ada.join(&lobby);
    bob.join(&lobby);
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    agent.look().await.unwrap();
    Scene { bridge, ada, bob, agent, lobby }
}

impl Scene {
    /// What inbox and history show: they never differ.
    async fn shown(&self) -> Vec<String> {
        self.bridge.caught_up().await;
        let inbox = self.agent.look().await.unwrap().texts();
        let mut history = self.agent.browse(browse(20)).await.unwrap().messages.texts();
        history.reverse();
        assert_eq!(inbox, history);
        inbox
    }
}

#[tokio::test]
async fn an_edit_replaces_the_text_in_place_and_wakes_nobody() {
    let mut s = scene().await;
    let said = s.ada.say(&s.lobby, "helo");
    s.ada.say(&s.lobby, "second");
    let before = s.shown().await;
    assert_eq!(before, ["helo", "second"]);
    let ids = |inbox: &parlour_app::view::Inbox| {
        inbox.messages.iter().map(|m| (m.message.event_id.clone(), m.message.message_id)).collect::<Vec<_>>()
    };
    let old = ids(&s.agent.look().await.unwrap());
    s.agent.ack(old[1].0.as_str()).await.unwrap();
    let waiting = s.agent.wait(wait(30));
    s.bridge.clock.until_sleeping_for(30_000).await;
    s.ada.edit(&s.lobby, &said, "hello");
    s.bridge.caught_up().await;
    assert!(!waiting.is_answered());
    waiting.go_away().await;
    let history = s.agent.browse(browse(20)).await.unwrap();
    assert_eq!(history.messages.texts(), ["second", "hello"]);
    assert_eq!(history.messages[1].message.event_id, old[0].0);
    s.bridge.crash_and_restart().await;
    assert_eq!(s.agent.browse(browse(20)).await.unwrap().messages.texts(), ["second", "hello"]);
}

#[tokio::test]
async fn an_edit_by_somebody_else_is_ignored() {
    let s = scene().await;
    let said = s.ada.say(&s.lobby, "mine");
    s.bob.edit(&s.lobby, &said, "not yours");
    assert_eq!(s.shown().await, ["mine"]);
}

#[tokio::test]
async fn the_latest_edit_counts_and_a_deleted_one_gives_the_words_before_back() {
    let s = scene().await;
    let said = s.ada.say(&s.lobby, "one");
    s.bridge.clock.advance(1_000);
    s.ada.edit(&s.lobby, &said, "two");
    s.bridge.clock.advance(1_000);
    let last = s.ada.edit(&s.lobby, &said, "three");
    assert_eq!(s.shown().await, ["three"]);
    s.ada.redact(&s.lobby, &last);
    assert_eq!(s.shown().await, ["two"]);
}

#[tokio::test]
async fn an_edit_of_an_edit_edits_nothing() {
    let s = scene().await;
    let said = s.ada.say(&s.lobby, "one");
    let edit = s.ada.edit(&s.lobby, &said, "two");
    s.ada.edit(&s.lobby, &edit, "three");
    assert_eq!(s.shown().await, ["two"]);
}

#[tokio::test]
async fn an_edit_keeps_whom_the_message_was_for() {
    let s = scene().await;
    let said = s.ada.say_to(&s.lobby, s.agent.user_id.as_str(), "you");
    s.ada.edit(&s.lobby, &said, "you there");
    s.bridge.caught_up().await;
    let seen = s.agent.look().await.unwrap().messages.remove(0);
    assert_eq!((seen.message.body.text.as_str(), seen.mentions_me), ("you there", true));
}

#[tokio::test]
async fn an_author_deletes_their_own_and_nobody_elses() {
    let s = scene().await;
    let (mine, yours) = (s.ada.say(&s.lobby, "Ada's"), s.bob.say(&s.lobby, "Bob's"));
    s.bob.redact(&s.lobby, &mine);
    assert_eq!(s.shown().await, ["Ada's", "Bob's"], "Bob is nobody special");
    s.bob.redact(&s.lobby, &yours);
    assert_eq!(s.shown().await, ["Ada's"]);
    assert_eq!(s.agent.lookup(&[&yours]).await.unwrap().missing, [yours]);
}

#[tokio::test]
async fn a_moderator_deletes_anybodys() {
    let mut s = scene().await;
    let said = s.ada.say(&s.lobby, "Ada's");
    let own = s.agent.say("the agent's").await.unwrap().event_id.unwrap();
    s.ada.set_state(&s.lobby, "m.room.power_levels", json!({"users": {s.bob.user_id.clone(): 50}}));
    s.bob.redact(&s.lobby, &said);
    s.bob.redact(&s.lobby, own.as_str());
    assert!(s.shown().await.is_empty());
    s.bridge.crash_and_restart().await;
    let again = s.ada.say(&s.lobby, "again");
    s.bob.redact(&s.lobby, &again);
    assert!(s.shown().await.is_empty(), "levels are kept over restarts");
}

#[tokio::test]
async fn a_deletion_that_comes_first_keeps_the_message_out() {
    let s = scene().await;
    s.bridge.hs.hold_transactions().await;
    s.ada.say(&s.lobby, "soon gone");
    let events = s.bridge.hs.take_held();
    let redaction = json!({"type": "m.room.redaction", "event_id": "$redaction", "room_id": s.lobby,
        "sender": s.ada.user_id, "origin_server_ts": 1, "redacts": events[0]["event_id"],
        "content": {"redacts": events[0]["event_id"]}});
    s.ada.set_state(&s.lobby, "m.room.power_levels", json!({"users": {s.ada.user_id.clone(): 100}}));
    s.bridge.hs.release_transactions();
    s.bridge.caught_up().await;
    assert_eq!(s.bridge.hs.push_transaction("r1", &json!({"events": [redaction]})).await, Some(200));
    assert_eq!(s.bridge.hs.push_transaction("r2", &json!({"events": events})).await, Some(200));
    assert!(s.shown().await.is_empty());
}

#[tokio::test]
async fn an_edit_of_a_deleted_message_does_not_bring_it_back() {
    let s = scene().await;
    let said = s.ada.say(&s.lobby, "gone");
    s.ada.redact(&s.lobby, &said);
    s.ada.edit(&s.lobby, &said, "back?");
    assert!(s.shown().await.is_empty());
}

#[tokio::test]
async fn a_deleted_message_is_no_longer_quoted_nor_answered() {
    let s = scene().await;
    let said = s.ada.say(&s.lobby, "secret");
    s.bob.reply(&s.lobby, &said, "hm");
    s.ada.redact(&s.lobby, &said);
    assert_eq!(s.shown().await, ["hm"]);
    let seen = s.agent.look().await.unwrap().messages.remove(0);
    assert!(seen.quote.is_none());
}
