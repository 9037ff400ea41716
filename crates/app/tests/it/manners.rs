//! What people see of agents besides their words, and that nothing waits for it.

use parlour_app::Shown as Switches;
use parlour_testkit::{
    Agent, Bridge, Call, Mishap, Person, Setup, When,
    homeserver::Shown::{self, Presence, Read, Typing},
    wait,
};

use rstest::rstest;

use crate::support::{begin, pass_until, settled, text};

async fn showing(change: impl FnOnce(&mut Setup)) -> (Bridge, Person) {
    let bridge = Bridge::with(|setup| {
        setup.settings.people.shown =
            Switches { presence: true, receipts: true, typing: true, profiles: false };
        change(setup);
    })
    .await;
    let ada = bridge.hs.person("ada");
    ada.join(&bridge.lobby());
    bridge.caught_up().await;
    (bridge, ada)
}

async fn until(bridge: &Bridge, what: &str, is: impl Fn(&[Shown]) -> bool) {
    pass_until(bridge, what, || is(&bridge.hs.shown())).await;
}

fn who(agent: &Agent) -> String {
    agent.user_id.to_string()
}

#[tokio::test]
async fn online_while_it_waits_idle_then_gone() {
    let (bridge, _) = showing(|_| {}).await;
    let agent = settled(&bridge, "Robin").await;
    let me = who(&agent);
    let is = |word: &str| bridge.hs.presence_of(&me).as_deref() == Some(word);
    pass_until(&bridge, "it is online", || is("online")).await;
    pass_until(&bridge, "it is idle", || is("unavailable")).await;
    pass_until(&bridge, "it is gone", || is("offline")).await;
    let words: Vec<_> = bridge.hs.shown().into_iter().filter(|s| matches!(s, Presence(..))).collect();
    assert_eq!(words[0], Presence(me.clone(), "online".to_owned(), "Listening".to_owned()));
    assert!((10..=20).contains(&words.len()), "refreshed each 25 s: {}", words.len());
}

/// However many there are, and whatever the homeserver says of one of them.
#[rstest]
#[case::of_somebody_later(true, Mishap::refuse(400, "M_UNKNOWN"), &[80])]
#[case::of_the_first(false, Mishap::refuse(400, "M_UNKNOWN"), &[80, 80])]
#[case::broken(true, Mishap::bad_gateway(When::Before), &[80])]
#[tokio::test]
async fn whoever_waits_is_online(#[case] seen: bool, #[case] mishap: Mishap, #[case] pauses: &[i64]) {
    let (bridge, _) = showing(|_| {}).await;
    if seen {
        let wren = settled(&bridge, "Wren").await;
        pass_until(&bridge, "she is online", || bridge.hs.presence_of(&who(&wren)).is_some()).await;
    }
    bridge.hs.next(Call::SetPresence, mishap);
    let mut crowd = vec![];
    for n in 0..40 {
        crowd.push(settled(&bridge, &format!("Robin{n}")).await);
    }
    let online = |agent: &&Agent| bridge.hs.presence_of(&who(agent)).as_deref() == Some("online");
    for pause in pauses {
        bridge.clock.until_sleeping_for(*pause).await;
        bridge.clock.advance(*pause);
    }
    let most = || crowd.iter().filter(online).count() == 39;
    parlour_testkit::eventually_is("all but one are online", most).await;
}

#[tokio::test]
async fn receipts_follow_acknowledgements_and_the_last_is_not_lost() {
    let (bridge, ada) = showing(|_| {}).await;
    let agent = settled(&bridge, "Robin").await;
    let mut last = String::new();
    for n in 0..5 {
        last = ada.say(&bridge.lobby(), &n.to_string());
        bridge.caught_up().await;
        assert!(agent.ack(&last).await.unwrap().acknowledged);
    }
    until(&bridge, "the last is read", |shown| shown.contains(&Read(who(&agent), last.clone()))).await;
    let receipts = bridge.hs.shown().iter().filter(|s| matches!(s, Read(..))).count();
    assert!(receipts <= 2, "{receipts}");
}

#[tokio::test]
async fn typing_from_the_handing_over_to_the_answer() {
    let (bridge, ada) = showing(|_| {}).await;
    let agent = settled(&bridge, "Robin").await;
    let (on, off) = (Typing(who(&agent), true), Typing(who(&agent), false));
    let waiting = begin(&bridge, &agent, wait(30)).await;
    ada.say_to(&bridge.lobby(), &who(&agent), "hello");
    waiting.await.unwrap();
    until(&bridge, "it types", |shown| shown.contains(&on)).await;
    agent.send(text("hello yourself")).await.unwrap();
    until(&bridge, "it has said it", |shown| shown.contains(&off)).await;
}

#[rstest]
#[case::by_name(false)]
#[case::by_reply(true)]
#[tokio::test]
async fn in_a_crowd_only_who_is_meant_types(#[case] by_reply: bool) {
    let (bridge, ada) = showing(|s| s.settings.limits.lobby_entries_per_source_hour = 99).await;
    let meant = settled(&bridge, "Wren").await;
    let said = meant.say("ask me").await.unwrap().event_id.unwrap();
    bridge.caught_up().await;
    let mut waits = vec![begin(&bridge, &meant, wait(30)).await];
    for n in 0..10 {
        let agent = settled(&bridge, &format!("Robin {n}")).await;
        waits.push(begin(&bridge, &agent, wait(30)).await);
    }
    match by_reply {
        true => ada.reply(&bridge.lobby(), said.as_str(), "you there"),
        false => ada.say_to(&bridge.lobby(), &who(&meant), "you there"),
    };
    for waiting in waits {
        waiting.await.unwrap();
    }
    until(&bridge, "one types", |shown| shown.contains(&Typing(who(&meant), true))).await;
    bridge.clock.advance(1_000);
    let typing: Vec<_> = bridge.hs.shown().into_iter().filter(|s| matches!(s, Typing(..))).collect();
    assert_eq!(typing, [Typing(who(&meant), true)]);
}

/// Whose receipt somebody waits for is not kept waiting by those who only listen.
#[tokio::test]
async fn in_a_crowd_the_receipt_of_who_is_meant_moves_first() {
    let (bridge, ada) = showing(|s| s.settings.limits.lobby_entries_per_source_hour = 99).await;
    let mut agents = vec![];
    for n in 0..11 {
        agents.push(settled(&bridge, &format!("Robin {n}")).await);
    }
    let waiting = begin(&bridge, &agents[10], wait(30)).await;
    let said = ada.say_to(&bridge.lobby(), &who(&agents[10]), "you there");
    waiting.await.unwrap();
    for agent in &agents {
        agent.look().await.unwrap();
        agent.ack(&said).await.unwrap();
    }
    let read = |shown: &[Shown]| shown.iter().filter(|s| matches!(s, Read(..))).count();
    until(&bridge, "all have read", |shown| read(shown) == agents.len()).await;
    let all: Vec<Shown> = bridge.hs.shown().into_iter().filter(|s| matches!(s, Read(..))).collect();
    let at = all.iter().position(|s| *s == Read(who(&agents[10]), said.clone()));
    assert!(at.is_some_and(|at| at <= 3), "three of the others may have been sooner: {at:?}");
}

#[tokio::test]
async fn each_switch_turns_its_own_off() {
    let off = Switches::default();
    for (switch, kind) in [
        (Switches { presence: true, ..off }, "Presence"),
        (Switches { receipts: true, ..off }, "Read"),
        (Switches { typing: true, ..off }, "Typing"),
    ] {
        let (bridge, ada) = showing(|setup| setup.settings.people.shown = switch).await;
        let agent = settled(&bridge, "Robin").await;
        let waiting = begin(&bridge, &agent, wait(30)).await;
        let said = ada.say(&bridge.lobby(), "hello");
        waiting.await.unwrap();
        if kind == "Read" {
            agent.ack(&said).await.unwrap();
        }
        let named = |shown: &Shown| format!("{shown:?}").starts_with(kind);
        until(&bridge, kind, |shown| shown.iter().any(named)).await;
        assert!(bridge.hs.shown().iter().all(named), "{kind}: {:?}", bridge.hs.shown());
    }
}

/// A homeserver that hangs, and one that is down, cost agents nothing.
#[tokio::test]
async fn nothing_waits_for_it() {
    let (bridge, ada) = showing(|_| {}).await;
    let held = bridge.hs.hold(Call::SetPresence, When::Before);
    let agent = settled(&bridge, "Robin").await;
    held.arrived().await;
    let waiting = begin(&bridge, &agent, wait(30)).await;
    let said = ada.say(&bridge.lobby(), "hello");
    assert_eq!(waiting.await.unwrap().messages.len(), 1);
    assert!(agent.ack(&said).await.unwrap().acknowledged);
    agent.say("hello yourself").await.unwrap();
    assert!(bridge.hs.shown().is_empty());
    held.cut();
    until(&bridge, "it goes on", |shown| shown.contains(&Read(who(&agent), said.clone()))).await;
}

#[tokio::test]
async fn without_presence_it_is_left_alone_and_the_rest_goes_on() {
    for refused in [false, true] {
        let (bridge, ada) = showing(|_| {}).await;
        bridge.hs.has_no_presence();
        if refused {
            bridge.hs.always(Call::SetPresence, Mishap::refuse(404, "M_UNRECOGNIZED"));
        }
        let agent = settled(&bridge, "Robin").await;
        let said = ada.say(&bridge.lobby(), "hello");
        bridge.caught_up().await;
        agent.ack(&said).await.unwrap();
        until(&bridge, "it is read", |shown| shown.contains(&Read(who(&agent), said.clone()))).await;
        for _ in 0..3 {
            bridge.clock.advance(25_000);
            agent.look().await.unwrap();
        }
        assert_eq!(bridge.hs.calls(Call::SetPresence), 1);
    }
}

#[tokio::test]
async fn a_shutdown_takes_leave() {
    let (mut bridge, _) = showing(|_| {}).await;
    let agent = settled(&bridge, "Robin").await;
    pass_until(&bridge, "it is online", || bridge.hs.presence_of(&who(&agent)).is_some()).await;
    bridge.stop().await;
    assert_eq!(bridge.hs.presence_of(&who(&agent)).as_deref(), Some("offline"));
}

/// Where there are no people, nobody sees it.
#[tokio::test]
async fn among_agents_alone_nothing_is_shown() {
    let (bridge, ada) = showing(|_| {}).await;
    ada.leave(&bridge.lobby());
    bridge.caught_up().await;
    let (a, b) = (settled(&bridge, "Robin").await, settled(&bridge, "Wren").await);
    let waiting = begin(&bridge, &a, wait(30)).await;
    b.say("hello").await.unwrap();
    let said = waiting.await.unwrap().event_ids[0].to_string();
    a.ack(&said).await.unwrap();
    ada.join(&bridge.lobby());
    bridge.caught_up().await;
    // what is shown now comes after all that was noted before
    a.look().await.unwrap();
    until(&bridge, "it is online", |shown| !shown.is_empty()).await;
    assert!(bridge.hs.shown().iter().all(|s| matches!(s, Presence(..))));
}
