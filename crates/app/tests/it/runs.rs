//! Which run it is, and what follows where the database is an old one.

use parlour_testkit::{Bridge, Call, FakeHomeserver, Mishap, When, named};
use rstest::rstest;

use crate::support::{id, pass_until};

/// The number that the homeserver keeps.
fn run(hs: &FakeHomeserver) -> i64 {
    hs.account_data("parlour.run").and_then(|content| content["run"].as_i64()).unwrap_or(0)
}

async fn until_run(bridge: &Bridge, number: i64) {
    bridge.hs.until(&format!("run {number}"), |hs| run(hs) == number).await;
}

#[tokio::test]
async fn each_start_raises_the_number_that_the_homeserver_keeps() {
    let mut bridge = Bridge::start().await;
    until_run(&bridge, 1).await;
    bridge.restart().await;
    until_run(&bridge, 2).await;
    bridge.crash_and_restart().await;
    until_run(&bridge, 3).await;
    // found by housekeeping
    bridge.clock.until_sleeping_for(60_000).await;
    // housekeeping sleeps, and what is said waits until the run is known
    bridge.clock.until_sleeping_for(60_000).await;
    bridge.join("Robin").await.say("hello").await.unwrap();
    bridge.clock.advance(60 * 60_000);
    until_run(&bridge, 4).await;
}

/// Synapse would give the old event's id for the new words, and nobody would see them.
#[rstest]
#[case::told_at_once(None)]
#[case::told_after_a_proxys_404(Some(404))]
#[case::told_after_a_proxys_403(Some(403))]
#[tokio::test]
async fn an_old_database_uses_no_send_txn_id_again(#[case] proxy: Option<u16>) {
    let mut bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.stop().await;
    let copy = bridge.copy();
    bridge.boot().await;
    bridge.ready().await;
    agent.send(named(&id(1), "what the copy does not know")).await.unwrap();
    bridge.stop().await;
    bridge.put_back(&copy);
    proxy.into_iter().for_each(|status| bridge.hs.next(Call::AccountData, Mishap::of_proxy(status)));
    bridge.boot().await;
    bridge.ready().await;
    let sending = agent.send(named(&id(1), "something else"));
    pass_until(&bridge, "it is told", || bridge.hs.calls(Call::Send) == 2).await;
    sending.await.unwrap();
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["what the copy does not know", "something else"]);
}

/// Until it is known whether the database is an old one, nothing is said.
#[tokio::test]
async fn nothing_is_sent_before_the_run_is_known() {
    let mut bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.stop().await;
    let held = bridge.hs.hold(Call::AccountData, When::Before);
    bridge.boot().await;
    held.arrived().await;
    let sending = agent.send(named(&id(1), "at last"));
    bridge.ready().await;
    assert_eq!(bridge.hs.calls(Call::Send), 0);
    held.release();
    sending.await.unwrap();
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["at last"]);
}

#[tokio::test]
async fn a_homeserver_that_keeps_nothing_is_served_all_the_same() {
    let bridge = Bridge::with(|setup| {
        for call in [Call::AccountData, Call::SetAccountData] {
            setup.hs.always(call, Mishap::refuse(404, "M_UNRECOGNIZED"));
        }
    })
    .await;
    let agent = bridge.join("Robin").await;
    agent.say("hello").await.unwrap();
}
