//! What several topics need.

use std::fmt::Debug;

use parlour_app::{
    request::{Send, Wait},
    view::Inbox,
};
use parlour_domain::fault::{Code, Fault};
use parlour_testkit::{Agent, Bridge, Pending, Person, Setup, eventually, homeserver::RoomSetup, lobby};

/// The fault's code, and the field it names.
pub(crate) fn refused<T: Debug>(answer: Result<T, Fault>) -> (Code, String) {
    let fault = answer.expect_err("a refusal");
    let field = fault.details.get("field").and_then(|f| f.as_str()).unwrap_or_default();
    (fault.code, field.to_owned())
}

pub(crate) fn code<T: Debug>(answer: Result<T, Fault>) -> Code {
    refused(answer).0
}

/// A version 7 UUID that ends in `n`.
pub(crate) fn id(n: u32) -> String {
    format!("0199aaaa-0000-7000-8000-{n:012}")
}

/// Two lobbies, the second `garden`.
pub(crate) fn two_lobbies(setup: &mut Setup) {
    setup.settings.lobbies.push(lobby("garden", "The Garden", false));
}

/// No quota gets in the way.
pub(crate) fn generous(setup: &mut Setup) {
    let limits = &mut setup.settings.limits;
    limits.lobby_messages_per_agent_minute = 100_000;
    limits.lobby_messages_per_agent_day = 100_000;
    limits.lobby_messages_per_lobby_minute = 100_000;
}

pub(crate) fn text(text: &str) -> Send {
    Send { text: text.to_owned(), ..Send::default() }
}

/// Moves the clock on, bit by bit, until something is so.
pub(crate) async fn pass_until(bridge: &Bridge, what: &str, mut is: impl FnMut() -> bool) {
    parlour_testkit::eventually_is(what, || {
        let is = is();
        if !is {
            bridge.clock.advance(100);
        }
        is
    })
    .await;
}

/// An encrypted room of a person's, into which she has brought an agent of the lobby.
pub(crate) async fn encrypted_room(ada: &Person, agent: &Agent) -> String {
    let setup = RoomSetup { encrypted: true, join_rule: "invite", ..RoomSetup::default() };
    let room = ada.make_room(&setup);
    ada.invite(&room, agent.user_id.as_str());
    let inside = || async { (agent.me().await.unwrap().rooms.len() == 2).then_some(()) };
    eventually("it is in", inside).await;
    room
}

/// A wait that is really waiting.
pub(crate) async fn begin(bridge: &Bridge, agent: &Agent, ask: Wait) -> Pending<Inbox> {
    let ms = 1_000 * ask.wait.map_or(30, |s| s.min(30));
    let waiting = agent.wait(ask);
    bridge.clock.until_sleeping_for(i64::try_from(ms).unwrap()).await;
    waiting
}

/// An agent that has taken its first look.
pub(crate) async fn settled(bridge: &Bridge, name: &str) -> Agent {
    let agent = bridge.join(name).await;
    bridge.caught_up().await;
    agent.look().await.unwrap();
    agent
}
