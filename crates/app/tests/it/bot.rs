//! The bridge bot in people's rooms: it comes, says once what it is, and does what those say who may invite.

use parlour_app::request::Browse;
use parlour_domain::people::{Invitable, Invites};
use parlour_testkit::{
    Bridge, Call, Mishap, Person, Texts, When, eventually_is,
    homeserver::{BOT, RoomSetup},
};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::pass_until;

/// A room of Ada's with the bot in it. Only those may invite who have a level of 50.
pub(crate) struct Kitchen {
    pub(crate) bridge: Bridge,
    pub(crate) ada: Person,
    pub(crate) bob: Person,
    pub(crate) room: String,
}

impl Kitchen {
    pub(crate) async fn new() -> Self {
        Self::of(RoomSetup { join_rule: "invite", ..RoomSetup::default() }).await
    }

    pub(crate) async fn of(setup: RoomSetup<'_>) -> Self {
        let bridge = Bridge::start().await;
        let (ada, bob) = (bridge.hs.person("ada"), bridge.hs.person("bob"));
        let room = ada.make_room(&setup);
        ada.set_state(&room, "m.room.name", json!({"name": "Kitchen"}));
        let mut users = json!({BOT: 50});
        if setup.version != "12" {
            users[&ada.user_id] = 100.into();
        }
        let power = json!({"users": users, "invite": 50, "state_default": 100});
        ada.set_state(&room, "m.room.power_levels", power);
        bob.join(&room);
        ada.invite(&room, BOT);
        let kitchen = Self { bridge, ada, bob, room };
        kitchen.said(1).await;
        kitchen
    }

    /// What the bot has said here, once it is so much.
    pub(crate) async fn said(&self, count: usize) -> Vec<String> {
        said(&self.bridge, &self.room, count).await
    }

    /// Says something and gives the bot's answer.
    pub(crate) async fn ask(&self, who: &Person, text: &str) -> String {
        let before = notices(&self.bridge, &self.room).len();
        who.say(&self.room, text);
        self.said(before + 1).await.pop().unwrap()
    }

    /// The room's number, as the bot tells it.
    pub(crate) async fn number(&self) -> String {
        let greeting = self.said(1).await.remove(0);
        greeting.split("number is ").nth(1).unwrap().split('.').next().unwrap().to_owned()
    }
}

pub(crate) fn notices(bridge: &Bridge, room: &str) -> Vec<Value> {
    let all = bridge.hs.sent_by(BOT, room, "m.room.message");
    all.into_iter().map(|e| e["content"].clone()).filter(|c| c["m.new_content"].is_null()).collect()
}

pub(crate) async fn said(bridge: &Bridge, room: &str, count: usize) -> Vec<String> {
    eventually_is(&format!("{count} words of the bot"), || notices(bridge, room).len() >= count).await;
    notices(bridge, room).iter().map(|c| c["body"].as_str().unwrap().to_owned()).collect()
}

#[rstest]
#[case("10")]
#[case("12")]
#[tokio::test]
async fn it_comes_and_says_once_what_it_is(#[case] version: &str) {
    let mut kitchen = Kitchen::of(RoomSetup { version, join_rule: "invite", ..RoomSetup::default() }).await;
    let greeting = kitchen.said(1).await.remove(0);
    for part in ["number is", "The operator of the bridge on example.org can read", "!agents help"] {
        assert!(greeting.contains(part), "{greeting}");
    }
    let notice = notices(&kitchen.bridge, &kitchen.room).remove(0);
    assert_eq!((notice["msgtype"].as_str(), &notice["m.mentions"]), (Some("m.notice"), &json!({})));
    assert!(notice["formatted_body"].as_str().unwrap().contains("<code>!agents help</code>"));
    kitchen.bridge.crash_and_restart().await;
    kitchen.bridge.restart().await;
    assert!(kitchen.ask(&kitchen.ada, "!agents help").await.contains("admit NAME"));
    assert_eq!(kitchen.said(2).await.len(), 2);
}

#[rstest]
#[case::joined(Call::Join, When::After)]
#[case::reading(Call::State, When::Before)]
#[case::greeting(Call::Send, When::Before)]
#[case::greeted(Call::Send, When::After)]
#[tokio::test]
async fn killed_in_between_it_greets_once(#[case] call: Call, #[case] when: When) {
    let mut bridge = Bridge::start().await;
    let ada = bridge.hs.person("ada");
    let room = ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    let held = bridge.hs.hold(call, when);
    ada.invite(&room, BOT);
    held.arrived().await;
    bridge.crash().await;
    held.cut();
    bridge.hs.forget_like_a_restart();
    bridge.boot().await;
    bridge.ready().await;
    said(&bridge, &room, 1).await;
    ada.say(&room, "!agents info");
    assert!(said(&bridge, &room, 2).await[1].starts_with("Number of this room"));
}

#[tokio::test]
async fn what_a_proxy_says_ends_nothing() {
    let bridge = Bridge::start().await;
    let (agent, ada) = (bridge.join("Scout").await, bridge.hs.person("ada"));
    let room = ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    bridge.hs.next(Call::Join, Mishap::of_proxy(404));
    ada.invite(&room, BOT);
    pass_until(&bridge, "the bot is in", || bridge.hs.is_joined(&room, BOT)).await;
    bridge.hs.next(Call::Join, Mishap::of_proxy(403));
    ada.invite(&room, agent.user_id.as_str());
    pass_until(&bridge, "the agent is in", || bridge.hs.is_joined(&room, agent.user_id.as_str())).await;
    said(&bridge, &room, 1).await;
    bridge.hs.next(Call::Send, Mishap::of_proxy(404));
    ada.say(&room, "!agents agents");
    pass_until(&bridge, "it answers", || notices(&bridge, &room).len() == 2).await;
}

#[tokio::test]
async fn lost_answers_make_nothing_twice() {
    let kitchen = Kitchen::new().await;
    for when in [When::Before, When::After] {
        kitchen.bridge.hs.next(Call::Send, Mishap::Cut(when));
        let before = notices(&kitchen.bridge, &kitchen.room).len();
        kitchen.ada.say(&kitchen.room, "!agents help");
        pass_until(&kitchen.bridge, "the answer", || notices(&kitchen.bridge, &kitchen.room).len() > before)
            .await;
    }
    kitchen.ada.say(&kitchen.room, "!agents knocks");
    let last =
        || notices(&kitchen.bridge, &kitchen.room).last().unwrap()["body"] == "Nobody knocks right now.";
    pass_until(&kitchen.bridge, "what was asked last is answered", last).await;
    assert_eq!(kitchen.said(4).await.len(), 4);
}

#[tokio::test]
async fn whom_the_operator_lets_it_follow() {
    let bridge = Bridge::with(|s| s.settings.people.invites = Invites::Nobody).await;
    let ada = bridge.hs.person("ada");
    let room = ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    ada.invite(&room, BOT);
    eventually_is("it declines", || bridge.hs.membership(&room, BOT) == "leave").await;
    assert_eq!(notices(&bridge, &room), Vec::<Value>::new());
}

#[rstest]
#[case("10")]
#[case("12")]
#[tokio::test]
async fn only_those_who_may_invite_are_obeyed(#[case] version: &str) {
    let kitchen = Kitchen::of(RoomSetup { version, join_rule: "invite", ..RoomSetup::default() }).await;
    let refusal = "That takes the power to";
    for command in [
        "code",
        "code new",
        "code off",
        "knocks",
        "admit x",
        "decline x",
        "invite x",
        "remove x",
        "leave",
        "off",
    ] {
        let answer = kitchen.ask(&kitchen.bob, &format!("!agents {command}")).await;
        assert!(answer.starts_with(refusal), "{command}: {answer}");
    }
    for command in ["help", "info", "agents"] {
        let answer = kitchen.ask(&kitchen.bob, &format!("!agents {command}")).await;
        assert!(!answer.starts_with(refusal), "{command}: {answer}");
    }
    assert_eq!(kitchen.ask(&kitchen.ada, "!agents knocks").await, "Nobody knocks right now.");
}

#[tokio::test]
async fn an_agent_is_brought_in_and_put_out() {
    let kitchen = Kitchen::new().await;
    let scout = kitchen.bridge.join("Scout").await;
    let inside = || kitchen.bridge.hs.is_joined(&kitchen.room, scout.user_id.as_str());
    let answer = kitchen.ask(&kitchen.ada, "!Agents  INVITE scout").await;
    assert_eq!(answer, format!("{} is in now.", scout.display_name));
    assert!(inside());
    assert!(kitchen.ask(&kitchen.bob, "!agents agents").await.contains(&scout.display_name));
    kitchen.ask(&kitchen.ada, "!agents kick 1").await;
    assert!(!inside());
    assert_eq!(scout.me().await.unwrap().rooms.len(), 1);
    assert_eq!(kitchen.ask(&kitchen.ada, "!agents agents").await, "There is no agent.");
}

#[tokio::test]
async fn where_it_may_not_invite_it_says_whom_to_invite() {
    let kitchen = Kitchen::new().await;
    let (scout, ada) = (kitchen.bridge.join("Scout").await, &kitchen.ada);
    ada.set_state(&kitchen.room, "m.room.power_levels", json!({"users": {}, "invite": 50}));
    let answer = kitchen.ask(ada, "!agents invite Scout").await;
    assert!(answer.contains(scout.user_id.as_str()) && answer.contains("power level 50"), "{answer}");
    ada.invite(&kitchen.room, scout.user_id.as_str());
    eventually_is("it follows", || kitchen.bridge.hs.is_joined(&kitchen.room, scout.user_id.as_str())).await;
}

#[tokio::test]
async fn nothing_that_it_says_or_is_told_reaches_agents() {
    let mut kitchen = Kitchen::new().await;
    let scout = kitchen.bridge.join("Scout").await;
    kitchen.ask(&kitchen.ada, "!agents invite Scout").await;
    kitchen.ask(&kitchen.ada, "!agents help").await;
    let mention = json!({"msgtype": "m.text", "body": "Parlour: info", "m.mentions": {"user_ids": [BOT]}});
    kitchen.ada.message(&kitchen.room, mention);
    kitchen.said(4).await;
    kitchen.ada.say(&kitchen.room, "to all");
    kitchen.bridge.caught_up().await;
    assert_eq!(scout.look().await.unwrap().texts(), ["to all"]);
    kitchen.bridge.crash_and_restart().await;
    let browse = Browse { room_id: Some(kitchen.room.clone()), ..Browse::default() };
    assert_eq!(scout.browse(browse).await.unwrap().messages.len(), 1);
}

/// Only words that a person types are commands, each once.
#[tokio::test]
async fn what_is_no_command() {
    let kitchen = Kitchen::new().await;
    let (ada, room) = (&kitchen.ada, &kitchen.room);
    let scout = kitchen.bridge.join("Scout").await;
    kitchen.ask(ada, "!agents invite Scout").await;
    ada.message(room, json!({"msgtype": "m.notice", "body": "!agents info"}));
    ada.message(room, json!({"msgtype": "m.emote", "body": "!agents info"}));
    let hello = ada.say(room, "hello");
    ada.edit(room, &hello, "!agents info");
    scout
        .send(parlour_app::request::Send {
            room_id: Some(room.clone()),
            ..crate::support::text("!agents info")
        })
        .await
        .unwrap();
    ada.say(room, "I would type !agents info");
    assert_eq!(kitchen.ask(ada, "!agents knocks").await, "Nobody knocks right now.");
    assert_eq!(kitchen.said(3).await.len(), 3);
}

#[tokio::test]
async fn a_thousand_words_of_garbage_are_survived() {
    let kitchen = Kitchen::new().await;
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for n in 0..1_000u32 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise: String =
            state.to_le_bytes().iter().filter_map(|b| char::from_u32(u32::from(*b) * 7 + n)).collect();
        let verb = ["", "code", "admit", "remove", "invite", "x"][(state >> 60) as usize % 6];
        kitchen.bob.say(&kitchen.room, &format!("!agents {verb} {noise}"));
    }
    kitchen.ada.say(&kitchen.room, "!agents knocks");
    let last =
        || notices(&kitchen.bridge, &kitchen.room).last().unwrap()["body"] == "Nobody knocks right now.";
    eventually_is("the room is served as before", last).await;
    let answers = kitchen.said(2).await.len();
    assert!(answers <= 40, "{answers} answers to one who makes noise");
    assert!(notices(&kitchen.bridge, &kitchen.room).iter().all(|c| c["msgtype"] == "m.notice"));
}

#[tokio::test]
async fn whoever_wrote_to_it_may_be_invited() {
    let bridge = Bridge::with(|s| s.settings.people.invitable = Invitable::Known).await;
    let (owner, ada) = (bridge.join("Owner").await, bridge.hs.person("ada"));
    let den = owner.make_room("Den").await.unwrap().access.room.room_id.to_string();
    let chat = ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    ada.invite_directly(&chat, BOT);
    said(&bridge, &chat, 1).await;
    ada.say(&chat, "hello");
    assert!(said(&bridge, &chat, 2).await[1].contains("I let AI agents into rooms"));
    ada.leave(&chat);
    bridge.caught_up().await;
    owner.invite(&den, &ada.user_id, bridge.stranger()).await.unwrap();
}

/// Where the bot may set state, clients are told of its commands (MSC4391); a command in that form is understood.
#[tokio::test]
async fn commands_are_announced_and_taken_in_that_form() {
    let kitchen = Kitchen::new().await;
    let kind = "org.matrix.msc4391.command_description";
    assert_eq!(kitchen.bridge.hs.states(&kitchen.room, kind).len(), 0, "it takes power");
    let power = json!({"users": {BOT: 50}, "invite": 50});
    kitchen.ada.set_state(&kitchen.room, "m.room.power_levels", power);
    eventually_is("all are announced", || kitchen.bridge.hs.states(&kitchen.room, kind).len() == 13).await;
    let all = kitchen.bridge.hs.states(&kitchen.room, kind);
    assert!(all.iter().any(|e| e["content"]["command"] == "agents knocks"), "{all:?}");
    kitchen.ada.message(
        &kitchen.room,
        json!({
            "msgtype": "m.text", "body": "/agents knocks", "m.mentions": {"user_ids": [BOT]},
            "org.matrix.msc4391.command": {"command": "agents knocks", "arguments": {}},
        }),
    );
    assert_eq!(kitchen.said(2).await[1], "Nobody knocks right now.");
}
