//! People come and go, agents are removed, names change.

use parlour_domain::{agent::Author, fault::Code};
use parlour_testkit::{Bridge, Texts, browse};

use crate::support::{code, generous, two_lobbies};

#[tokio::test]
async fn a_kicked_agent_is_out_and_may_come_again() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    agent.look().await.unwrap();
    ada.say(&bridge.lobby(), "before");
    ada.kick(&bridge.lobby(), agent.user_id.as_str());
    ada.say(&bridge.lobby(), "while out");
    bridge.caught_up().await;
    assert!(agent.me().await.unwrap().rooms.is_empty());
    assert_eq!(code(agent.say("hello").await), Code::RoomNotJoined);
    assert_eq!(code(agent.browse(browse(5)).await), Code::RoomNotJoined);
    assert_eq!(bridge.lobbies()[0].online, 0);
    agent.enter("lobby", bridge.stranger()).await.unwrap();
    ada.say(&bridge.lobby(), "back");
    bridge.caught_up().await;
    let inbox = agent.look().await.unwrap();
    assert_eq!(inbox.texts(), ["before", "while out", "back"]);
    assert_eq!(inbox.messages.iter().map(|m| m.before_join).collect::<Vec<_>>(), [false, true, false]);
}

#[tokio::test]
async fn a_kick_is_no_idleness_nothing_puts_it_back() {
    let mut bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    ada.kick(&bridge.lobby(), agent.user_id.as_str());
    bridge.caught_up().await;
    agent.me().await.unwrap();
    bridge.crash_and_restart().await;
    agent.me().await.unwrap();
    assert!(!bridge.hs.is_joined(&bridge.lobby(), agent.user_id.as_str()));
}

#[tokio::test]
async fn banned_and_back_after_the_ban_is_lifted() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    ada.ban(&bridge.lobby(), agent.user_id.as_str());
    bridge.caught_up().await;
    assert_eq!(code(agent.enter("lobby", bridge.stranger()).await), Code::Forbidden);
    ada.unban(&bridge.lobby(), agent.user_id.as_str());
    bridge.caught_up().await;
    agent.enter("lobby", bridge.stranger()).await.unwrap();
    agent.say("back").await.unwrap();
}

#[tokio::test]
async fn a_refused_entry_is_paid_back() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_entries_per_source_hour = 1).await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    ada.ban(&bridge.lobby(), agent.user_id.as_str());
    bridge.caught_up().await;
    let source = bridge.stranger();
    assert_eq!(code(agent.enter("lobby", source).await), Code::Forbidden);
    ada.unban(&bridge.lobby(), agent.user_id.as_str());
    bridge.caught_up().await;
    agent.enter("lobby", source).await.unwrap();
}

#[tokio::test]
async fn a_name_is_the_one_it_was_said_under() {
    let mut bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    ada.join(&bridge.lobby());
    ada.say(&bridge.lobby(), "one");
    ada.rename("Ada Lovelace");
    ada.say(&bridge.lobby(), "two");
    bridge.caught_up().await;
    bridge.crash_and_restart().await;
    ada.say(&bridge.lobby(), "three");
    bridge.caught_up().await;
    let inbox = agent.look().await.unwrap();
    let names: Vec<&str> = inbox.messages.iter().map(|m| m.message.author.display_name()).collect();
    assert_eq!(names, ["ada", "Ada Lovelace", "Ada Lovelace"]);
}

#[tokio::test]
async fn a_persons_picture_comes_with_their_words() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.hs.has_picture(&ada.user_id, "mxc://example.org/ada");
    ada.join(&bridge.lobby());
    ada.say(&bridge.lobby(), "hello");
    bridge.caught_up().await;
    let inbox = agent.look().await.unwrap();
    let Author::Person { avatar_url, .. } = &inbox.messages[0].message.author else { panic!("a person") };
    assert_eq!(avatar_url.as_deref(), Some("mxc://example.org/ada"));
}

#[tokio::test]
async fn a_stranger_without_a_name_is_called_by_matrix_id() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    // never joined, as far as the bridge has heard
    ada.say(&bridge.lobby(), "hello");
    bridge.caught_up().await;
    let inbox = agent.look().await.unwrap();
    assert_eq!(inbox.messages[0].message.author.display_name(), "@ada:example.org");
}

#[tokio::test]
async fn what_the_bridge_bot_says_is_in_no_inbox() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.hs.person("parlour").say(&bridge.lobby(), "a notice for people");
    bridge.caught_up().await;
    assert_eq!(agent.look().await.unwrap().pending, 0);
    assert!(agent.browse(browse(5)).await.unwrap().messages.is_empty());
}

#[tokio::test]
async fn kicked_out_of_one_lobby_the_other_stays() {
    let bridge = Bridge::with(|s| {
        two_lobbies(s);
        generous(s);
    })
    .await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    agent.enter("garden", bridge.stranger()).await.unwrap();
    bridge.caught_up().await;
    ada.kick(&bridge.lobby(), agent.user_id.as_str());
    bridge.caught_up().await;
    let sent = agent.say("in the only one left").await.unwrap();
    assert_eq!(sent.room_id.as_str(), bridge.hs.room("garden").unwrap());
}

/// The homeserver's news lag behind its answers: an old leave must not undo a new join.
#[tokio::test]
async fn late_news_of_an_earlier_leave_does_not_take_it_out_again() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    agent.look().await.unwrap();
    bridge.hs.hold_transactions().await;
    bridge.clock.advance(3_600_000);
    let (lobby, user) = (bridge.lobby(), agent.user_id.to_string());
    bridge.hs.until("it is out", |hs| !hs.is_joined(&lobby, &user)).await;
    agent.say("back").await.unwrap();
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    assert_eq!(agent.me().await.unwrap().rooms.len(), 1);
    agent.say("still here").await.unwrap();
}
