//! Transactions that never came: found out, fetched, and told where too much is gone.

use parlour_app::{Shown, runtime::Clock};
use parlour_testkit::{Agent, Bridge, Call, Mishap, Texts, When, browse};
use serde_json::json;

use crate::support::{encrypted_room, pass_until};

async fn scene() -> (Bridge, Agent, String) {
    // whose clock has nothing to do with what is looked for
    let bridge = Bridge::with(|s| s.settings.people.shown = Shown::default()).await;
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    agent.look().await.unwrap();
    let lobby = bridge.lobby();
    (bridge, agent, lobby)
}

/// Nothing of it will ever be brought.
async fn lose(bridge: &Bridge, say: impl FnOnce()) {
    bridge.hs.hold_transactions().await;
    say();
    let _ = bridge.hs.take_held();
    bridge.hs.release_transactions();
}

/// Until so many are in the inbox.
async fn arrived(bridge: &Bridge, agent: &Agent, pending: usize) {
    parlour_testkit::eventually("it is fetched", || async {
        bridge.clock.advance(500);
        (agent.look().await.unwrap().pending == pending).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_restart_finds_what_was_lost() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    ada.say(&lobby, "known");
    bridge.caught_up().await;
    bridge.stop().await;
    lose(&bridge, || {
        (1..=150).for_each(|n| drop(ada.say(&lobby, &n.to_string())));
    })
    .await;
    bridge.boot().await;
    bridge.ready().await;
    arrived(&bridge, &agent, 151).await;
    ada.say(&lobby, "afterwards");
    bridge.caught_up().await;
    let mut ask = browse(50);
    ask.after = Some(agent.look().await.unwrap().messages[0].message.event_id.to_string());
    let page = agent.browse(ask).await.unwrap();
    let expected: Vec<String> = (1..=50).map(|n| n.to_string()).collect();
    assert_eq!(page.messages.texts(), expected, "in the room's order");
    let inbox = agent.look().await.unwrap();
    assert_eq!((inbox.pending, inbox.gaps.len(), inbox.dropped), (152, 0, 0));
    assert_eq!(agent.browse(browse(2)).await.unwrap().messages.texts(), ["afterwards", "150"]);
}

#[tokio::test]
async fn an_outage_that_a_send_ran_into_is_followed_by_a_look() {
    let (bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    bridge.hs.go_down().await;
    agent.say("anybody?").await.unwrap_err();
    lose(&bridge, || drop(ada.say(&lobby, "lost"))).await;
    bridge.hs.come_up().await;
    arrived(&bridge, &agent, 1).await;
}

#[tokio::test]
async fn what_is_only_late_is_waited_for() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    bridge.stop().await;
    bridge.hs.hold_transactions().await;
    ada.say(&lobby, "late");
    bridge.boot().await;
    bridge.ready().await;
    // it looks again at everything once the homeserver has brought what it had
    bridge.clock.until_sleeping_for(1_000).await;
    bridge.clock.advance(1_000);
    bridge.clock.until_sleeping_for(500).await;
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    let looks = bridge.hs.calls(Call::Messages);
    let nobody_looks = || {
        let (now, sleepers) = (bridge.clock.now_ms(), bridge.clock.sleepers());
        if sleepers.first().is_some_and(|at| *at <= now + 500) {
            bridge.clock.advance(500);
            return false;
        }
        // what is left is the one look for what was left behind
        sleepers.contains(&(now + 15_000))
    };
    parlour_testkit::eventually_is("nobody looks for it any more", nobody_looks).await;
    assert_eq!(agent.look().await.unwrap().texts(), ["late"]);
    assert_eq!(bridge.hs.calls(Call::Messages), looks, "there was nothing to fetch");
}

#[tokio::test]
async fn more_lost_than_is_kept_is_told_as_a_gap_until_acknowledged() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    let known = ada.say(&lobby, "known");
    bridge.caught_up().await;
    agent.ack(&known).await.unwrap();
    bridge.stop().await;
    lose(&bridge, || {
        (1..=800).for_each(|n| drop(ada.say(&lobby, &n.to_string())));
    })
    .await;
    bridge.boot().await;
    bridge.ready().await;
    arrived(&bridge, &agent, 500).await;
    let ask = || parlour_app::request::Wait { limit: Some(50), ..parlour_testkit::wait(0) };
    let inbox = agent.wait(ask()).await.unwrap();
    assert_eq!((inbox.pending, inbox.texts()[0].as_str()), (500, "301"));
    assert_eq!(inbox.gaps.len(), 1);
    let gap = &inbox.gaps[0];
    assert_eq!((gap.reason.as_str(), gap.room_id.as_str()), ("too_many", &*lobby));
    assert_eq!(gap.before_event_id, inbox.messages[0].message.event_id);
    assert_eq!(gap.after_event_id.as_ref().map(|e| e.as_str()), Some(&*known));
    bridge.crash_and_restart().await;
    assert_eq!(agent.wait(ask()).await.unwrap().gaps, inbox.gaps, "repeated");
    agent.ack(inbox.messages[3].message.event_id.as_str()).await.unwrap();
    assert!(agent.wait(ask()).await.unwrap().gaps.is_empty());
}

/// Nothing was asked of it meanwhile: that it counts its transactions anew is all that shows.
#[tokio::test]
async fn a_restart_of_the_homeserver_is_followed_by_a_look() {
    let (bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    ada.say(&lobby, "one");
    bridge.caught_up().await;
    // the look after the bridge's own start is over
    bridge.clock.until_sleeping_for(15_000).await;
    let looks = bridge.hs.calls(Call::Messages);
    bridge.clock.advance(15_000);
    bridge.hs.until_called(Call::Messages, looks + 1).await;
    lose(&bridge, || drop(ada.say(&lobby, "between"))).await;
    bridge.hs.forget_like_a_restart();
    ada.say(&lobby, "two");
    bridge.caught_up().await;
    arrived(&bridge, &agent, 3).await;
    assert_eq!(agent.browse(browse(3)).await.unwrap().messages.texts(), ["two", "between", "one"]);
}

/// The newest message does not show that one before it is missing.
#[tokio::test]
async fn one_that_was_left_behind_between_others_is_fetched_to_its_place() {
    let (bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    // the look for such, once after a start
    bridge.clock.until_sleeping_for(15_000).await;
    ada.say(&lobby, "one");
    bridge.caught_up().await;
    lose(&bridge, || drop(ada.say(&lobby, "between"))).await;
    ada.say(&lobby, "two");
    bridge.caught_up().await;
    assert_eq!(agent.look().await.unwrap().texts(), ["one", "two"]);
    arrived(&bridge, &agent, 3).await;
    assert_eq!(agent.browse(browse(3)).await.unwrap().messages.texts(), ["two", "between", "one"]);
}

/// The homeserver has the words between only when somebody pages back, which nothing tells but that the last came late.
#[tokio::test]
async fn what_another_homeserver_could_not_bring_is_fetched() {
    let (bridge, agent, lobby) = scene().await;
    let (ada, eve) = (bridge.hs.person("ada"), bridge.hs.person_of("eve", "elsewhere.org"));
    // the look after the bridge's own start is over
    bridge.clock.until_sleeping_for(15_000).await;
    let looks = bridge.hs.calls(Call::Messages);
    bridge.clock.advance(15_000);
    bridge.hs.until_called(Call::Messages, looks + 1).await;
    eve.say(&lobby, "first");
    bridge.caught_up().await;
    let looks = bridge.hs.calls(Call::Messages);
    late(&bridge, || drop(ada.say(&lobby, "from home"))).await;
    bridge.clock.advance(60_000);
    // nothing is missing before this one
    late(&bridge, || drop(eve.say(&lobby, "second"))).await;
    bridge.clock.until_sleeping_for(2_000).await;
    bridge.clock.advance(2_000);
    bridge.hs.until_called(Call::Messages, looks + 1).await;
    lose(&bridge, || (1..=150).for_each(|n| drop(eve.say(&lobby, &n.to_string())))).await;
    late(&bridge, || drop(eve.say(&lobby, "last"))).await;
    arrived(&bridge, &agent, 154).await;
    let looks = bridge.hs.calls(Call::Messages) - looks;
    assert_eq!(looks, 1 + 2, "two pages the second time, and none for what is from home");
    assert_eq!(agent.browse(browse(3)).await.unwrap().messages.texts(), ["last", "150", "149"]);
}

/// It is a while under way.
async fn late(bridge: &Bridge, say: impl FnOnce()) {
    bridge.hs.hold_transactions().await;
    say();
    bridge.clock.advance(11_000);
    bridge.hs.release_transactions();
    bridge.caught_up().await;
}

#[tokio::test]
async fn edits_and_deletions_that_were_lost_count() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    bridge.stop().await;
    lose(&bridge, || {
        let wrong = ada.say(&lobby, "helo");
        ada.edit(&lobby, &wrong, "hello");
        let gone = ada.say(&lobby, "gone");
        ada.redact(&lobby, &gone);
        ada.say(&lobby, "last");
    })
    .await;
    bridge.boot().await;
    bridge.ready().await;
    arrived(&bridge, &agent, 2).await;
    assert_eq!(agent.look().await.unwrap().texts(), ["hello", "last"]);
}

#[tokio::test]
async fn an_own_message_whose_echo_was_lost_keeps_its_place() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    ada.say(&lobby, "known");
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    ada.say(&lobby, "before");
    agent.say("mine").await.unwrap();
    ada.say(&lobby, "after");
    bridge.stop().await;
    let _ = bridge.hs.take_held();
    bridge.hs.release_transactions();
    bridge.boot().await;
    bridge.ready().await;
    arrived(&bridge, &agent, 3).await;
    assert_eq!(agent.browse(browse(5)).await.unwrap().messages.texts(), ["after", "mine", "before", "known"]);
    assert_eq!(agent.look().await.unwrap().texts(), ["known", "before", "after"]);
}

#[tokio::test]
async fn a_homeserver_that_fails_while_we_look_is_asked_again() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    bridge.stop().await;
    lose(&bridge, || drop(ada.say(&lobby, "lost"))).await;
    bridge.hs.always(Call::Messages, Mishap::bad_gateway(When::Before));
    bridge.boot().await;
    bridge.ready().await;
    bridge.hs.until_called(Call::Messages, 1).await;
    bridge.hs.recover(Call::Messages);
    arrived(&bridge, &agent, 1).await;
}

#[tokio::test]
async fn what_the_lost_ones_said_wakes_whoever_waits() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    bridge.stop().await;
    lose(&bridge, || drop(ada.say(&lobby, "lost"))).await;
    bridge.boot().await;
    bridge.ready().await;
    let waiting = agent.wait(parlour_testkit::wait(30));
    bridge.clock.until_sleeping_for(30_000).await;
    pass_until(&bridge, "it is woken", || waiting.is_answered()).await;
    assert_eq!(waiting.await.unwrap().texts(), ["lost"]);
}

/// As above, with nothing in the log from before the join: the place of the join is all that stands before it.
#[tokio::test]
async fn the_very_first_message_lost_before_an_own_one_is_not_from_before_the_join() {
    let (mut bridge, agent, lobby) = scene().await;
    let ada = bridge.hs.person("ada");
    bridge.hs.hold_transactions().await;
    ada.say(&lobby, "lost");
    agent.say("mine").await.unwrap();
    bridge.stop().await;
    let _ = bridge.hs.take_held();
    bridge.hs.release_transactions();
    bridge.boot().await;
    bridge.ready().await;
    arrived(&bridge, &agent, 1).await;
    let inbox = agent.look().await.unwrap();
    assert_eq!((inbox.texts(), inbox.messages[0].before_join), (vec!["lost".to_owned()], false));
}

/// On the first word that comes five minutes later, and once: that is acknowledged with it.
#[tokio::test]
async fn what_nobody_could_read_is_a_gap() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    let room = encrypted_room(&ada, &agent).await;
    agent.look().await.unwrap();
    let before = ada.say(&room, "one");
    let ciphertext = format!("AwgAEhAA{}", "A".repeat(116));
    let sealed =
        json!({"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": ciphertext, "session_id": "A".repeat(43)});
    ada.send(&room, "m.room.encrypted", sealed);
    bridge.caught_up().await;
    bridge.clock.advance(5 * 60_000);
    let next = ada.say(&room, "two");
    bridge.caught_up().await;
    let inbox = agent.look().await.unwrap();
    let gaps: Vec<_> =
        inbox.gaps.iter().map(|gap| (gap.reason.as_str(), gap.before_event_id.as_str())).collect();
    assert_eq!(gaps, [("undecryptable", next.as_str())]);
    assert_eq!(inbox.gaps[0].after_event_id.as_ref().map(|id| id.as_str()), Some(&*before));
    agent.ack(&next).await.unwrap();
    ada.say(&room, "three");
    bridge.caught_up().await;
    assert!(agent.look().await.unwrap().gaps.is_empty());
}
