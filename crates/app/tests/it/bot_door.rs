//! Knocks on people's rooms: shown there, answered by a sign or by a word, and told to the end.

use parlour_app::view::{Entered, KnockStatus};
use parlour_domain::{fault::Code, limits::KNOCK_LIFE_MS};
use parlour_testkit::{
    Agent, Call, eventually, eventually_is,
    homeserver::{BOT, RoomSetup},
};
use rstest::rstest;
use serde_json::Value;

use crate::{bot::Kitchen, support::code};

/// Somebody knocks at the kitchen.
struct Door {
    kitchen: Kitchen,
    scout: Agent,
    number: String,
}

impl Door {
    async fn new() -> Self {
        Self::of("invite").await
    }

    async fn of(join_rule: &str) -> Self {
        let kitchen = Kitchen::of(RoomSetup { join_rule, ..RoomSetup::default() }).await;
        let (scout, number) = (kitchen.bridge.join("Scout").await, kitchen.number().await);
        let door = Self { kitchen, scout, number };
        door.knock().await;
        door
    }

    async fn knock(&self) -> KnockStatus {
        match self.scout.enter(&self.number, self.kitchen.bridge.stranger()).await.unwrap() {
            Entered::Knock(knock) => knock.status,
            Entered::Room(_) => panic!("let in"),
        }
    }

    /// The notice, once there are two signs beside it.
    async fn shown(&self) -> String {
        eventually("two signs to press", || async { self.signs_beside().filter(|(_, signs)| *signs == 2) })
            .await
            .0
    }

    fn signs_beside(&self) -> Option<(String, usize)> {
        let (hs, room) = (&self.kitchen.bridge.hs, &self.kitchen.room);
        let notices = hs.sent_by(BOT, room, "m.room.message");
        let is_knock = |e: &&Value| {
            let body = e["content"]["body"].as_str().unwrap();
            body.contains("asks to be let in") && body.contains(&self.scout.display_name)
        };
        let id = notices.iter().rfind(is_knock)?["event_id"].as_str()?.to_owned();
        let beside = |e: &&Value| e["content"]["m.relates_to"]["event_id"] == id.as_str();
        let signs = hs.sent_by(BOT, room, "m.reaction").iter().filter(beside).count();
        Some((id, signs))
    }

    /// What the notice says in the end.
    async fn told(&self, notice: &str) -> String {
        let (hs, room) = (&self.kitchen.bridge.hs, &self.kitchen.room);
        let edit = |e: &Value| {
            let content = &e["content"];
            (content["m.relates_to"]["event_id"] == notice)
                .then(|| content["m.new_content"]["body"].as_str())?
                .map(str::to_owned)
        };
        eventually("the notice is edited", || async {
            hs.sent_by(BOT, room, "m.room.message").iter().find_map(edit)
        })
        .await
    }

    fn inside(&self) -> bool {
        self.kitchen.bridge.hs.is_joined(&self.kitchen.room, self.scout.user_id.as_str())
    }
}

#[rstest]
#[case::yes("✅", "was let in by ada")]
#[case::no("❌", "was turned away by ada")]
#[tokio::test]
async fn a_press_answers(#[case] sign: &str, #[case] told: &str) {
    let mut door = Door::new().await;
    let notice = door.shown().await;
    // nobody else's press does anything, nor other signs, nor signs elsewhere
    let (room, ada, bob) = (door.kitchen.room.clone(), door.kitchen.ada.clone(), door.kitchen.bob.clone());
    bob.react(&room, &notice, sign);
    ada.react(&room, &notice, "👍");
    let elsewhere = ada.say(&room, "hm");
    ada.react(&room, &elsewhere, sign);
    assert!(door.kitchen.ask(&ada, "!agents knocks").await.contains(&door.scout.display_name));
    door.kitchen.bridge.crash_and_restart().await;
    ada.react(&room, &notice, sign);
    let end = door.told(&notice).await;
    assert!(end.contains(told) && end.contains(&door.scout.display_name), "{end}");
    assert_eq!(door.inside(), sign == "✅");
    // pressed again, it is over
    ada.react(&room, &notice, "✅");
    assert_eq!(door.kitchen.ask(&ada, "!agents knocks").await, "Nobody knocks right now.");
    assert_eq!(door.inside(), sign == "✅");
}

#[rstest]
#[case::by_name("admit Scout", "was let in by ada")]
#[case::by_place("let in 1", "was let in by ada")]
#[case::away("decline scout", "was turned away by ada")]
#[tokio::test]
async fn a_word_answers_too(#[case] command: &str, #[case] told: &str) {
    let door = Door::new().await;
    let notice = door.shown().await;
    door.kitchen.ask(&door.kitchen.ada, &format!("!agents {command}")).await;
    assert!(door.told(&notice).await.contains(told));
    let status = door.knock_again().await;
    assert_eq!(status, (told.contains("away")).then_some(KnockStatus::Declined));
}

impl Door {
    /// `None`: inside.
    async fn knock_again(&self) -> Option<KnockStatus> {
        match self.scout.enter(&self.number, self.kitchen.bridge.stranger()).await.unwrap() {
            Entered::Knock(knock) => Some(knock.status),
            Entered::Room(_) => None,
        }
    }
}

#[tokio::test]
async fn a_knock_that_ends_by_itself_is_told_as_well() {
    let mut door = Door::new().await;
    let notice = door.shown().await;
    door.kitchen.bridge.clock.advance(KNOCK_LIFE_MS);
    assert!(door.told(&notice).await.contains("nobody answered"));
    // knocking again is a new notice; a kill in between loses nothing
    assert_eq!(door.knock().await, KnockStatus::Waiting);
    door.kitchen.bridge.crash_and_restart().await;
    let again = eventually("a new notice", || async {
        door.signs_beside().filter(|(id, signs)| *id != notice && *signs == 2)
    })
    .await
    .0;
    door.scout.leave().await.unwrap();
    assert!(door.told(&again).await.contains("is gone"));
}

/// Clients show a door of their own where a room takes knocks.
#[tokio::test]
async fn a_puppet_knocks_itself_where_it_may() {
    let door = Door::of("knock").await;
    let (hs, room, puppet) = (&door.kitchen.bridge.hs, &door.kitchen.room, door.scout.user_id.as_str());
    let notice = door.shown().await;
    eventually_is("it stands before the door", || hs.membership(room, puppet) == "knock").await;
    let reason = hs.member(room, puppet).unwrap()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains(&door.scout.display_name), "{reason}");
    door.kitchen.ada.invite(room, puppet);
    assert!(door.told(&notice).await.contains("was let in by ada"));
    eventually_is("it is inside", || door.inside()).await;
    assert_eq!(door.scout.me().await.unwrap().rooms.len(), 2);
}

#[rstest]
#[case::kicked(true)]
#[case::lapsed(false)]
#[tokio::test]
async fn and_is_sent_away_or_goes(#[case] kicked: bool) {
    let door = Door::of("knock").await;
    let (hs, room, puppet) = (&door.kitchen.bridge.hs, &door.kitchen.room, door.scout.user_id.as_str());
    let notice = door.shown().await;
    eventually_is("it stands before the door", || hs.membership(room, puppet) == "knock").await;
    door.kitchen.bridge.caught_up().await;
    if kicked {
        door.kitchen.ada.kick(room, puppet);
        assert!(door.told(&notice).await.contains("was turned away by ada"));
        assert_eq!(door.knock_again().await, Some(KnockStatus::Declined));
    } else {
        door.kitchen.bridge.clock.advance(KNOCK_LIFE_MS);
        eventually_is("it goes", || hs.membership(room, puppet) == "leave").await;
        assert!(hs.calls(Call::Leave) > 0);
        assert!(door.told(&notice).await.contains("nobody answered"));
    }
}

/// A code opens a room of people as it opens an agent's, and not after the bot was put out.
#[tokio::test]
async fn without_the_bot_there_is_no_door() {
    let door = Door::new().await;
    let notice = door.shown().await;
    assert_eq!(door.scout.me().await.unwrap().knocks.len(), 1);
    door.kitchen.ada.kick(&door.kitchen.room, BOT);
    door.kitchen.bridge.caught_up().await;
    assert_eq!(
        code(door.scout.enter(&door.number, door.kitchen.bridge.stranger()).await),
        Code::RoomNotFound
    );
    door.kitchen.ada.react(&door.kitchen.room, &notice, "✅");
    door.kitchen.bridge.caught_up().await;
    assert!(!door.inside());
}
