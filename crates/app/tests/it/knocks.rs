//! Before a private room's door, and put out of it.

use parlour_app::{
    request::{Join, Wait},
    view::{Entered, Knock, KnockStatus},
};
use parlour_domain::{fault::Code, limits::KNOCK_LIFE_MS, wait::Reason};
use parlour_testkit::{Agent, Bridge, Call, Mishap, eventually_is, join, shown_code, wait};

use crate::support::{begin, code};

struct Den {
    bridge: Bridge,
    owner: Agent,
    guest: Agent,
    room: String,
    number: String,
    code: String,
}

impl Den {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut parlour_testkit::Setup)) -> Self {
        let bridge = Bridge::with(change).await;
        let (owner, guest) = (bridge.join("Owner").await, bridge.join("Guest").await);
        let access = owner.make_room("Den").await.unwrap().access;
        let (room, number) = (access.room.room_id.to_string(), access.room.catalog_id.to_string());
        bridge.caught_up().await;
        Self { code: shown_code(&access), bridge, owner, guest, room, number }
    }

    async fn knock(&self, agent: &Agent) -> Knock {
        match agent.enter(&self.number, self.bridge.stranger()).await.unwrap() {
            Entered::Knock(knock) => knock,
            Entered::Room(_) => panic!("let in"),
        }
    }

    async fn waiting(&self) -> Vec<String> {
        self.owner.list_knocks(&self.number).await.unwrap().into_iter().map(|k| k.display_name).collect()
    }

    /// The first wait after entering a room only looks.
    async fn look_around(&self) {
        self.owner.look().await.unwrap();
        self.guest.look().await.unwrap();
    }

    fn inside(&self, agent: &Agent) -> bool {
        self.bridge.hs.is_joined(&self.room, agent.user_id.as_str())
    }
}

#[tokio::test]
async fn a_knock_wakes_the_owner_once_and_admission_ends_the_knockers_wait() {
    let den = Den::new().await;
    den.look_around().await;
    let waits = begin(&den.bridge, &den.owner, wait(30)).await;
    let knock = den.knock(&den.guest).await;
    assert_eq!(
        (knock.status, knock.expires_at_ms),
        (KnockStatus::Waiting, knock.knocked_at_ms + KNOCK_LIFE_MS)
    );
    let told = waits.await.unwrap();
    assert_eq!((told.reason, told.messages.len()), (Reason::Knocks, 0));
    assert_eq!(told.incoming_knocks[0].display_name, den.guest.display_name);
    assert_eq!(told.incoming_knocks[0].room.room_id, *den.room);
    // told of again with every answer, but it wakes no more
    let again = begin(&den.bridge, &den.owner, wait(1)).await;
    den.bridge.clock.advance(1_000);
    let again = again.await.unwrap();
    assert_eq!((again.reason, again.incoming_knocks.len()), (Reason::Timeout, 1));
    assert_eq!(den.owner.me().await.unwrap().incoming_knocks.len(), 1);
    assert_eq!(den.guest.me().await.unwrap().knocks.len(), 1);

    let guest_waits = begin(&den.bridge, &den.guest, wait(30)).await;
    let admitted = den.owner.admit(&den.number, &den.guest.id).await.unwrap();
    assert_eq!(admitted.display_name, den.guest.display_name);
    assert!(den.inside(&den.guest));
    let ended = guest_waits.await.unwrap();
    assert_eq!((ended.reason.as_str(), ended.messages.len()), ("timeout", 0));
    let me = den.guest.me().await.unwrap();
    assert_eq!((me.rooms.len(), me.knocks.len()), (2, 0));
    assert_eq!(den.waiting().await, Vec::<String>::new());
    assert_eq!(code(den.owner.admit(&den.number, &den.guest.id).await), Code::KnockNotFound);
}

#[tokio::test]
async fn a_knock_while_nobody_waited_is_told_at_once_also_after_a_restart() {
    let mut den = Den::new().await;
    den.knock(&den.guest).await;
    den.bridge.crash_and_restart().await;
    assert_eq!(den.owner.wait(wait(30)).await.unwrap().reason, Reason::Knocks);
    den.bridge.crash_and_restart().await;
    let look = den.owner.look().await.unwrap();
    assert_eq!((look.reason, look.incoming_knocks.len()), (Reason::Timeout, 1), "told before the crash");
}

#[tokio::test]
async fn a_wait_for_one_room_hears_only_its_door() {
    let den = Den::new().await;
    den.look_around().await;
    let lobby = Some(den.bridge.lobby());
    let waits = begin(&den.bridge, &den.owner, Wait { room_id: lobby, ..wait(2) }).await;
    den.knock(&den.guest).await;
    den.bridge.clock.advance(2_000);
    let told = waits.await.unwrap();
    assert_eq!((told.reason, told.incoming_knocks.len()), (Reason::Timeout, 0));
}

#[tokio::test]
async fn a_refusal_is_final_and_silent() {
    let den = Den::new().await;
    den.knock(&den.guest).await;
    den.owner.look().await.unwrap();
    den.owner.decline(&den.number, &den.guest.id).await.unwrap();
    assert_eq!(den.knock(&den.guest).await.status, KnockStatus::Declined);
    assert_eq!(den.waiting().await, Vec::<String>::new());
    assert_eq!(den.owner.look().await.unwrap().reason, Reason::Timeout, "nobody is told");
    assert_eq!(den.guest.me().await.unwrap().knocks[0].status, KnockStatus::Declined);
    assert_eq!(code(den.owner.admit(&den.number, &den.guest.id).await), Code::KnockNotFound);
    assert_eq!(code(den.owner.decline(&den.number, &den.guest.id).await), Code::KnockNotFound);
    // a code opens all the same
    den.guest.enter_by_code(&den.code, den.bridge.stranger()).await.unwrap();
    assert!(den.guest.me().await.unwrap().knocks.is_empty());
}

#[tokio::test]
async fn a_knock_lapses_after_an_hour_and_may_come_again() {
    let den = Den::new().await;
    den.knock(&den.guest).await;
    den.bridge.clock.advance(KNOCK_LIFE_MS - 1);
    assert_eq!(den.waiting().await.len(), 1);
    den.bridge.clock.advance(1);
    assert_eq!(den.waiting().await, Vec::<String>::new());
    assert_eq!(den.guest.me().await.unwrap().knocks[0].status, KnockStatus::Expired);
    assert_eq!(code(den.owner.admit(&den.number, &den.guest.id).await), Code::KnockNotFound);
    assert_eq!(den.knock(&den.guest).await.status, KnockStatus::Waiting);
    assert_eq!(den.waiting().await.len(), 1);
}

#[tokio::test]
async fn a_full_door_makes_no_agent() {
    let den = Den::with(|s| s.settings.limits.waiting_knocks_per_room = 1).await;
    den.knock(&den.guest).await;
    den.bridge.clock.advance(60_000);
    let registered = den.bridge.hs.calls(Call::Register);
    let ask = Join { room: Some(den.number.clone()), ..join("Late") };
    let fault = den.bridge.ask_in(ask.clone(), den.bridge.stranger()).await.unwrap_err();
    assert_eq!((fault.code, fault.retry_after_s), (Code::RateLimited, Some(3_540)));
    assert_eq!(den.bridge.hs.calls(Call::Register), registered);
    den.knock(&den.guest).await;
    den.owner.decline(&den.number, &den.guest.id).await.unwrap();
    let welcome = den.bridge.ask_in(ask, den.bridge.stranger()).await.unwrap();
    assert!(matches!(welcome.entered, Entered::Knock(_)));
    let late = den.bridge.agent(&welcome);
    assert!(late.me().await.unwrap().rooms.is_empty());
    let waits = begin(&den.bridge, &late, wait(30)).await;
    den.owner.admit(&den.room, &late.id).await.unwrap();
    assert_eq!(waits.await.unwrap().reason.as_str(), "timeout");
    assert_eq!(late.me().await.unwrap().rooms.len(), 1);
}

#[tokio::test]
async fn knocks_are_counted_by_source() {
    let den = Den::with(|s| s.settings.limits.knocks_per_source_hour = 2).await;
    let source = den.bridge.stranger();
    for _ in 0..2 {
        den.guest.enter(&den.number, source).await.unwrap();
    }
    assert_eq!(code(den.guest.enter(&den.number, source).await), Code::RateLimited);
    den.guest.enter(&format!("https://x.example/lobby/{}", den.number), den.bridge.stranger()).await.unwrap();
}

#[tokio::test]
async fn who_ends_stands_before_no_door() {
    let den = Den::new().await;
    den.knock(&den.guest).await;
    den.guest.leave().await.unwrap();
    assert_eq!(den.waiting().await, Vec::<String>::new());
    assert_eq!(code(den.owner.admit(&den.number, &den.guest.id).await), Code::KnockNotFound);
}

#[tokio::test]
async fn an_admission_that_failed_can_be_made_again() {
    let den = Den::new().await;
    den.knock(&den.guest).await;
    den.bridge.hs.next(Call::Join, Mishap::bad_gateway(parlour_testkit::When::Before));
    assert_eq!(code(den.owner.admit(&den.number, &den.guest.id).await), Code::DependencyUnavailable);
    assert_eq!(den.waiting().await.len(), 1);
    den.owner.admit(&den.number, &den.guest.id).await.unwrap();
    assert!(den.inside(&den.guest));
}

#[tokio::test]
async fn who_was_removed_needs_a_new_code_or_to_knock() {
    let den = Den::new().await;
    den.guest.enter_by_code(&den.code, den.bridge.stranger()).await.unwrap();
    den.owner.remove(&den.number, &den.guest.id).await.unwrap();
    assert!(!den.inside(&den.guest));
    den.owner.remove(&den.number, &den.guest.id).await.unwrap();
    den.bridge.caught_up().await;
    assert_eq!(den.guest.me().await.unwrap().rooms.len(), 1);
    assert_eq!(code(den.guest.enter_by_code(&den.code, den.bridge.stranger()).await), Code::CodeInvalid);
    assert_eq!(den.knock(&den.guest).await.status, KnockStatus::Waiting);
    den.owner.admit(&den.number, &den.guest.id).await.unwrap();
    den.owner.remove(&den.number, &den.guest.id).await.unwrap();
    let new = shown_code(&den.owner.replace_code(&den.number).await.unwrap());
    den.guest.enter_by_code(&new, den.bridge.stranger()).await.unwrap();
    den.bridge.caught_up().await;
    assert_eq!(den.guest.me().await.unwrap().rooms.len(), 2, "old news of the kick changes nothing");
    assert_eq!(code(den.owner.remove(&den.number, &den.owner.id).await), Code::AgentNotInRoom);
    assert_eq!(code(den.owner.remove(&den.number, "nobody").await), Code::AgentNotInRoom);
}

/// The homeserver was down when the owner removed it.
#[tokio::test]
async fn a_removal_holds_whatever_the_homeserver_says() {
    let den = Den::new().await;
    den.guest.enter_by_code(&den.code, den.bridge.stranger()).await.unwrap();
    den.bridge.caught_up().await;
    den.bridge.hs.next(Call::Kick, Mishap::bad_gateway(parlour_testkit::When::Before));
    assert_eq!(code(den.owner.remove(&den.number, &den.guest.id).await), Code::DependencyUnavailable);
    assert_eq!(den.guest.me().await.unwrap().rooms.len(), 1, "reads nothing more");
    let gone = || {
        den.bridge.clock.advance(60_000);
        !den.inside(&den.guest)
    };
    eventually_is("its puppet is taken out", gone).await;
}

#[tokio::test]
async fn who_was_let_in_before_and_lost_its_way_comes_in_again() {
    let den = Den::new().await;
    den.guest.enter_by_code(&den.code, den.bridge.stranger()).await.unwrap();
    den.bridge.caught_up().await;
    // a person with power takes it out: that is a removal
    let ada = den.bridge.hs.person("ada");
    ada.join(&den.room);
    ada.kick(&den.room, den.guest.user_id.as_str());
    den.bridge.caught_up().await;
    assert_eq!(den.knock(&den.guest).await.status, KnockStatus::Waiting);
    assert_eq!(code(den.guest.enter_by_code(&den.code, den.bridge.stranger()).await), Code::CodeInvalid);
}
