//! Which power each command takes.

use parlour_testkit::{
    eventually_is,
    homeserver::{BOT, RoomSetup},
};
use rstest::rstest;
use serde_json::json;

use crate::bot::{Kitchen, notices, said};

/// Commands that let agents in, and how they are answered where they may be given.
const LETTING_IN: [(&str, &str); 7] = [
    ("code", "Codes are said in private only"),
    ("code new", "There is a new Agent code"),
    ("code off", "The Agent code is off"),
    ("knocks", "Nobody knocks"),
    ("admit x", "Nobody knocks"),
    ("decline x", "Nobody knocks"),
    ("invite x", "I know no agent of that name"),
];
const TO_INVITE: &str = "That takes the power to invite";
const TO_REMOVE: &str = "That takes the power to remove";

/// What a room asks of those who invite, and of those who remove others.
#[derive(Clone, Copy, Debug)]
struct Levels {
    invite: i64,
    kick: i64,
}

/// What these leave to somebody with a level of 50.
const INVITES: Levels = Levels { invite: 50, kick: 100 };
const REMOVES: Levels = Levels { invite: 100, kick: 50 };

/// Bob has a level of 50 in the kitchen, and asks there or in a direct chat.
struct Moderator {
    kitchen: Kitchen,
    asks_in: String,
    prefix: &'static str,
}

impl Moderator {
    async fn new(levels: Levels, in_chat: bool) -> Self {
        let kitchen = Kitchen::new().await;
        let mut users = json!({BOT: 50});
        users[&kitchen.bob.user_id] = 50.into();
        let power =
            json!({"users": users, "invite": levels.invite, "kick": levels.kick, "state_default": 100});
        kitchen.ada.set_state(&kitchen.room, "m.room.power_levels", power);
        kitchen.bridge.caught_up().await;
        if !in_chat {
            let asks_in = kitchen.room.clone();
            return Self { kitchen, asks_in, prefix: "!agents " };
        }
        let chat = kitchen.bob.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
        kitchen.bob.invite_directly(&chat, BOT);
        said(&kitchen.bridge, &chat, 1).await;
        Self { kitchen, asks_in: chat, prefix: "" }
    }

    fn says(&self, command: &str) {
        self.kitchen.bob.say(&self.asks_in, &format!("{}{command}", self.prefix));
    }

    async fn is_told(&self, command: &str, expected: &str) {
        let before = notices(&self.kitchen.bridge, &self.asks_in).len();
        self.says(command);
        let answer = said(&self.kitchen.bridge, &self.asks_in, before + 1).await.pop().unwrap();
        assert!(answer.starts_with(expected), "{command}: {answer}");
    }
}

#[rstest]
#[case(false)]
#[case(true)]
#[tokio::test]
async fn who_may_only_invite_lets_agents_in(#[case] in_chat: bool) {
    let moderator = Moderator::new(INVITES, in_chat).await;
    for (command, answer) in LETTING_IN {
        moderator.is_told(command, answer).await;
    }
    for command in ["remove x", "leave Kitchen", "off Kitchen"] {
        moderator.is_told(command, TO_REMOVE).await;
    }
    are_open_to_all(&moderator).await;
    assert!(moderator.kitchen.bridge.hs.is_joined(&moderator.kitchen.room, BOT));
}

#[rstest]
#[case(false)]
#[case(true)]
#[tokio::test]
async fn who_may_only_remove_puts_agents_out(#[case] in_chat: bool) {
    let moderator = Moderator::new(REMOVES, in_chat).await;
    for (command, _) in LETTING_IN {
        moderator.is_told(command, TO_INVITE).await;
    }
    moderator.is_told("remove x", "No agent of that name is here").await;
    are_open_to_all(&moderator).await;
}

async fn are_open_to_all(moderator: &Moderator) {
    moderator.is_told("help", "I let AI agents into rooms").await;
    moderator.is_told("info", "Number of this room").await;
    moderator.is_told("agents", "There is no agent").await;
}

/// In the room nothing is said to that: the bot is out.
#[rstest]
#[case("leave Kitchen", false)]
#[case("leave Kitchen", true)]
#[case("off Kitchen", false)]
#[case("off Kitchen", true)]
#[tokio::test]
async fn who_may_only_remove_sends_the_bot_away(#[case] command: &str, #[case] in_chat: bool) {
    let moderator = Moderator::new(REMOVES, in_chat).await;
    moderator.says(command);
    let (hs, room) = (&moderator.kitchen.bridge.hs, &moderator.kitchen.room);
    eventually_is("it is gone", || !hs.is_joined(room, BOT)).await;
}
