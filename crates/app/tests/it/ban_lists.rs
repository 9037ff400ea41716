//! Whom a ban list names.

use std::sync::Arc;

use parlour_app::{runtime::Clock, view::Readiness};
use parlour_domain::fault::Code;
use parlour_testkit::{
    Agent, Bridge, Call, Mishap, Person, Texts, When, eventually, eventually_is, homeserver::RoomSetup,
};
use rstest::rstest;
use serde_json::json;

use crate::support::{code, pass_until};

const ALIAS: &str = "#bans:example.org";
const OTHER: &str = "#others:example.org";

/// A bridge that follows a list of Ada's. Eve is not in it yet.
struct Watch {
    bridge: Bridge,
    ada: Person,
    eve: Person,
    list: String,
    agent: Agent,
}

impl Watch {
    async fn new() -> Self {
        Self::of(RoomSetup { alias: Some("bans"), ..RoomSetup::default() }).await
    }

    async fn of(list: RoomSetup<'static>) -> Self {
        let bridge = Bridge::prepare(|s| s.settings.ban_lists = vec![ALIAS.try_into().unwrap()]).await;
        Self::beside(bridge, list).await
    }

    async fn beside(mut bridge: Bridge, list: RoomSetup<'static>) -> Self {
        let (ada, eve) = (bridge.hs.person("ada"), bridge.hs.person("eve"));
        let list = ada.make_room(&list);
        bridge.boot().await;
        bridge.ready().await;
        let agent = bridge.join("Scout").await;
        Self { bridge, ada, eve, list, agent }
    }

    /// The bridge follows another list as well.
    async fn beside_another(join_rule: &'static str) -> (Self, String) {
        let bridge = Bridge::prepare(|s| {
            s.settings.ban_lists = [ALIAS, OTHER].map(|alias| alias.try_into().unwrap()).into();
        })
        .await;
        let ada = bridge.hs.person("ada");
        let other = ada.make_room(&RoomSetup { alias: Some("others"), join_rule, ..RoomSetup::default() });
        (Self::beside(bridge, RoomSetup { alias: Some("bans"), ..RoomSetup::default() }).await, other)
    }

    /// How many lists were read, how many could not be, and how many rules there are.
    fn counts(&self) -> (usize, usize, usize) {
        let lists = self.bridge.app(|app| app.status().ban_lists);
        (lists.read, lists.failed, lists.rules)
    }

    /// Not only joined: what changes in the list from here on is read anew.
    async fn read(&self) {
        pass_until(&self.bridge, "the list is read", || self.counts().0 == 1).await;
    }

    async fn has_rules(&self, rules: usize) {
        pass_until(&self.bridge, &format!("{rules} rules"), || self.counts().2 == rules).await;
    }

    /// So much time that whatever is to be read after a change is read.
    async fn rest(&self) {
        let end_ms = self.bridge.clock.now_ms() + 10_000;
        pass_until(&self.bridge, "some seconds", || self.bridge.clock.now_ms() >= end_ms).await;
    }

    async fn list_eve(&self) -> String {
        self.read().await;
        let rule = self.ada.set_rule(&self.list, "user", &self.eve.user_id, Some("m.ban"));
        self.has_rules(1).await;
        rule
    }

    /// One more rule in the list; it is read.
    async fn news(&self, n: usize) {
        let (seen, entity) = (self.bridge.hs.calls(Call::State), format!("@eve{n}:example.org"));
        self.ada.set_rule(&self.list, "user", &entity, Some("m.ban"));
        let news = || self.bridge.hs.calls(Call::State) > seen;
        pass_until(&self.bridge, "the news is read", news).await;
    }

    fn eve_in(&self, room: &str) -> String {
        self.bridge.hs.membership(room, &self.eve.user_id)
    }

    async fn eve_is(&self, membership: &str, room: &str) {
        let what = format!("Eve's membership is {membership}");
        pass_until(&self.bridge, &what, || self.eve_in(room) == membership).await;
    }

    /// A room of Ada's in which Eve and the agent are.
    async fn room_of_people(&self) -> String {
        let room = self.ada.make_room(&RoomSetup::default());
        self.eve.join(&room);
        self.ada.invite(&room, self.agent.user_id.as_str());
        eventually("the agent has a place", || async {
            self.agent.me().await.unwrap().rooms.iter().any(|r| r.room_id == room).then_some(())
        })
        .await;
        self.bridge.caught_up().await;
        room
    }
}

#[tokio::test]
async fn who_is_listed_is_heard_by_nobody_and_banned_from_the_rooms_of_the_bridge() {
    let mut watch = Watch::new().await;
    let (lobby, people) = (watch.bridge.lobby(), watch.room_of_people().await);
    let own = watch.agent.make_room("Den").await.unwrap().access.room.room_id.to_string();
    watch.eve.join(&lobby);
    watch.agent.invite(&own, &watch.eve.user_id, watch.bridge.stranger()).await.unwrap();
    watch.eve.join(&own);
    let before = watch.eve.say(&people, "before");
    watch.list_eve().await;
    watch.eve_is("ban", &lobby).await;
    watch.eve_is("ban", &own).await;
    assert_eq!(watch.eve_in(&people), "join", "that is for the room's moderators");
    watch.bridge.crash().await;
    watch.bridge.hs.go_down().await;
    watch.bridge.boot().await;
    watch.bridge.hs.come_up().await;
    pass_until(&watch.bridge, "it is ready", || watch.bridge.readiness() == Readiness::Ready).await;
    watch.eve.edit(&people, &before, "changed");
    watch.eve.say_to(&people, watch.agent.user_id.as_str(), "do as I say");
    watch.ada.say(&people, "hello");
    watch.bridge.caught_up().await;
    assert_eq!(watch.agent.look().await.unwrap().texts(), ["before", "hello"]);
}

#[tokio::test]
async fn who_comes_later_is_banned_when_they_come() {
    let watch = Watch::new().await;
    watch.list_eve().await;
    let lobby = watch.bridge.lobby();
    let own = watch.agent.make_room("Den").await.unwrap().access.room.room_id.to_string();
    watch.bridge.caught_up().await;
    watch.eve.join(&lobby);
    watch.eve_is("ban", &lobby).await;
    // where she cannot be banned right now, her knock is shown to nobody
    watch.bridge.hs.always(Call::Ban, Mishap::bad_gateway(When::Before));
    watch.eve.knock(&own);
    watch.bridge.caught_up().await;
    assert_eq!(
        (watch.eve_in(&own).as_str(), watch.agent.list_knocks(&own).await.unwrap().len()),
        ("knock", 0)
    );
    watch.bridge.hs.recover(Call::Ban);
    watch.eve_is("ban", &own).await;
    let invited = watch.agent.invite(&own, &watch.eve.user_id, watch.bridge.stranger()).await;
    assert_eq!(code(invited), Code::Forbidden);
}

#[rstest]
#[case::made_empty(false, false)]
#[case::redacted(true, false)]
#[case::on_a_homeserver_that_gives_contents_only(false, true)]
#[tokio::test]
async fn a_rule_that_is_taken_back_lets_back_in(#[case] redacted: bool, #[case] contents_only: bool) {
    let watch = Watch::new().await;
    if contents_only {
        watch.bridge.hs.gives_contents_only();
    }
    let (lobby, bob) = (watch.bridge.lobby(), watch.bridge.hs.person("bob"));
    watch.eve.join(&lobby);
    let rule = watch.list_eve().await;
    watch.eve_is("ban", &lobby).await;
    // a ban of somebody else's
    watch.ada.ban(&lobby, &bob.user_id);
    if redacted {
        watch.ada.redact(&watch.list, &rule);
    } else {
        watch.ada.set_rule(&watch.list, "user", &watch.eve.user_id, None);
    }
    watch.has_rules(0).await;
    watch.eve_is("leave", &lobby).await;
    assert_eq!(watch.bridge.hs.membership(&lobby, &bob.user_id), "ban");
    watch.eve.join(&lobby);
    watch.eve.say(&lobby, "I am back");
    watch.bridge.caught_up().await;
    assert_eq!(watch.agent.look().await.unwrap().texts(), ["I am back"]);
}

/// What a moderator has decided since is the moderators' to undo.
#[tokio::test]
async fn a_ban_that_a_moderator_renewed_stays() {
    let watch = Watch::new().await;
    let lobby = watch.bridge.lobby();
    watch.eve.join(&lobby);
    watch.list_eve().await;
    watch.eve_is("ban", &lobby).await;
    watch.ada.unban(&lobby, &watch.eve.user_id);
    watch.ada.ban(&lobby, &watch.eve.user_id);
    watch.bridge.caught_up().await;
    watch.ada.set_rule(&watch.list, "user", &watch.eve.user_id, None);
    watch.has_rules(0).await;
    let bob = watch.bridge.hs.person("bob");
    watch.ada.set_rule(&watch.list, "user", &bob.user_id, Some("m.ban"));
    bob.join(&lobby);
    pass_until(&watch.bridge, "the next sweep", || watch.bridge.hs.membership(&lobby, &bob.user_id) == "ban")
        .await;
    assert_eq!((watch.eve_in(&lobby).as_str(), watch.bridge.hs.calls(Call::Unban)), ("ban", 0));
}

/// The same, though no event of theirs has come yet.
#[tokio::test]
async fn a_ban_that_a_moderator_renewed_behind_our_back_stays() {
    let mut watch = Watch::new().await;
    let (lobby, mallory) = (watch.bridge.lobby(), watch.bridge.hs.person("mallory"));
    watch.eve.join(&lobby);
    mallory.join(&lobby);
    watch.list_eve().await;
    watch.ada.set_rule(&watch.list, "user", &mallory.user_id, Some("m.ban"));
    watch.eve_is("ban", &lobby).await;
    let hs = watch.bridge.hs.clone();
    pass_until(&watch.bridge, "both are banned", || hs.membership(&lobby, &mallory.user_id) == "ban").await;
    hs.hold_transactions().await;
    watch.bridge.stop().await;
    watch.ada.unban(&lobby, &watch.eve.user_id);
    watch.ada.ban(&lobby, &watch.eve.user_id);
    for user in [&watch.eve.user_id, &mallory.user_id] {
        watch.ada.set_rule(&watch.list, "user", user, None);
    }
    watch.bridge.boot().await;
    watch.bridge.ready().await;
    // Eve comes before her in the order of names
    pass_until(&watch.bridge, "one is let back in", || hs.membership(&lobby, &mallory.user_id) == "leave")
        .await;
    assert_eq!((watch.eve_in(&lobby).as_str(), hs.calls(Call::Unban)), ("ban", 1));
    hs.release_transactions();
}

#[tokio::test]
async fn a_list_under_another_name_is_the_same_list() {
    let mut watch = Watch::new().await;
    let lobby = watch.bridge.lobby();
    watch.eve.join(&lobby);
    watch.list_eve().await;
    watch.eve_is("ban", &lobby).await;
    watch.bridge.settings.ban_lists = vec![watch.list.as_str().try_into().unwrap()];
    watch.bridge.restart().await;
    watch.ada.set_rule(&watch.list, "user", "@bob:example.org", Some("m.ban"));
    pass_until(&watch.bridge, "read under the new name, forgotten under the old", || {
        watch.counts() == (1, 0, 2)
    })
    .await;
    assert_eq!((watch.eve_in(&lobby).as_str(), watch.bridge.hs.calls(Call::Unban)), ("ban", 0));
    assert!(watch.bridge.hs.is_joined(&watch.list, watch.bridge.settings.bot.as_str()), "it is read still");
}

#[tokio::test]
async fn what_else_happens_in_a_list_is_not_a_reason_to_read_it() {
    let watch = Watch::new().await;
    watch.list_eve().await;
    let reads = watch.bridge.hs.calls(Call::State);
    for n in 0..3 {
        watch.eve.join(&watch.list);
        watch.eve.say(&watch.list, &format!("hello {n}"));
        watch.eve.leave(&watch.list);
    }
    watch.bridge.caught_up().await;
    // a reading that was due would be merged into the next
    watch.rest().await;
    let bob = watch.bridge.hs.person("bob");
    watch.ada.set_rule(&watch.list, "user", &bob.user_id, Some("m.ban"));
    watch.has_rules(2).await;
    assert_eq!(watch.bridge.hs.calls(Call::State), reads + 1);
}

#[tokio::test]
async fn a_list_that_cannot_be_read_is_counted_until_it_can() {
    let watch = Watch::new().await;
    watch.list_eve().await;
    let counts = || watch.counts();
    assert_eq!(counts(), (1, 0, 1));
    watch.bridge.hs.always(Call::State, Mishap::bad_gateway(When::Before));
    watch.ada.set_rule(&watch.list, "user", "@bob:example.org", Some("m.ban"));
    pass_until(&watch.bridge, "it cannot be read", || counts() == (1, 1, 1)).await;
    watch.bridge.hs.recover(Call::State);
    pass_until(&watch.bridge, "it is read again", || counts() == (1, 0, 2)).await;
}

/// The hourly reading, and another try of what could not be read.
#[tokio::test]
async fn news_of_one_list_does_not_put_off_the_reading_of_another() {
    let (watch, other) = Watch::beside_another("public").await;
    pass_until(&watch.bridge, "both are read", || watch.counts().0 == 2).await;
    let (bot, rule) = (watch.bridge.settings.bot.to_string(), |rule| json!({"join_rule": rule}));
    watch.ada.set_state(&other, "m.room.join_rules", rule("invite"));
    watch.ada.kick(&other, &bot);
    for n in 0..4 {
        watch.bridge.clock.advance(20 * 60_000);
        watch.news(n).await;
    }
    eventually_is("that was to be read, and could not be", || watch.counts().1 == 1).await;
    watch.ada.set_state(&other, "m.room.join_rules", rule("public"));
    for n in 4..8 {
        watch.news(n).await;
    }
    eventually_is("it is read again", || watch.counts().1 == 0).await;
}

#[tokio::test]
async fn a_list_that_the_config_names_no_more_is_forgotten() {
    let mut watch = Watch::new().await;
    let lobby = watch.bridge.lobby();
    watch.eve.join(&lobby);
    watch.list_eve().await;
    watch.eve_is("ban", &lobby).await;
    watch.bridge.settings.ban_lists.clear();
    watch.bridge.restart().await;
    watch.has_rules(0).await;
    watch.eve_is("leave", &lobby).await;
    let bot = watch.bridge.settings.bot.to_string();
    pass_until(&watch.bridge, "the bot is out of it", || !watch.bridge.hs.is_joined(&watch.list, &bot)).await;
}

#[tokio::test]
async fn invitations_of_who_is_listed_are_declined() {
    let watch = Watch::new().await;
    watch.list_eve().await;
    let (agent, bot) = (watch.agent.user_id.to_string(), watch.bridge.settings.bot.to_string());
    let room = watch.eve.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    for guest in [&agent, &bot] {
        watch.eve.invite(&room, guest);
        pass_until(&watch.bridge, "declined", || watch.bridge.hs.membership(&room, guest) == "leave").await;
    }
    assert_eq!(watch.bridge.hs.members(&room), std::slice::from_ref(&watch.eve.user_id));
    assert_eq!(watch.bridge.hs.most_at_once(Call::Join, &room), 0, "nobody went in to see");
}

#[tokio::test]
async fn agents_and_bot_leave_a_listed_room_and_go_into_none() {
    let watch = Watch::new().await;
    watch.read().await;
    let (agent, bot) = (watch.agent.user_id.to_string(), watch.bridge.settings.bot.to_string());
    let room = watch.room_of_people().await;
    watch.ada.invite(&room, &bot);
    pass_until(&watch.bridge, "the bot is in", || watch.bridge.hs.is_joined(&room, &bot)).await;
    watch.ada.set_rule(&watch.list, "room", &room, Some("m.ban"));
    let gone = |user: &str| watch.bridge.hs.membership(&room, user) == "leave";
    pass_until(&watch.bridge, "both are out", || gone(&agent) && gone(&bot)).await;
    watch.ada.invite(&room, &agent);
    pass_until(&watch.bridge, "declined", || gone(&agent)).await;
    assert!(watch.agent.me().await.unwrap().rooms.iter().all(|r| r.room_id != room));
}

#[tokio::test]
async fn servers_and_patterns_count_but_nobody_at_home_goes_by_a_servers_rule() {
    let watch = Watch::new().await;
    watch.read().await;
    let lobby = watch.bridge.lobby();
    watch.eve.join(&lobby);
    watch.ada.set_rule(&watch.list, "server", "*", Some("m.ban"));
    watch.ada.set_rule(&watch.list, "user", "@agent_*:*", Some("m.ban"));
    watch.ada.set_rule(&watch.list, "user", "@ev?:*", Some("m.ban"));
    // the one for everybody is left out
    watch.has_rules(2).await;
    watch.eve_is("ban", &lobby).await;
    let here = [&watch.agent.user_id.to_string(), &watch.bridge.settings.bot.to_string()];
    assert!(here.iter().all(|user| watch.bridge.hs.is_joined(&lobby, user)), "nobody of ours goes by a rule");
    watch.ada.join(&lobby);
    watch.ada.say(&lobby, "still here");
    watch.bridge.caught_up().await;
    assert_eq!(watch.agent.look().await.unwrap().texts(), ["still here"]);
}

/// The bot is a reader there, and nobody's servant.
#[tokio::test]
async fn a_list_that_takes_an_invitation_is_read_once_the_bot_has_one() {
    let watch =
        Watch::of(RoomSetup { alias: Some("bans"), join_rule: "invite", ..RoomSetup::default() }).await;
    let bot = watch.bridge.settings.bot.to_string();
    eventually_is("it was tried", || watch.counts() == (0, 1, 0)).await;
    watch.ada.set_rule(&watch.list, "user", &watch.eve.user_id, Some("m.ban"));
    watch.ada.invite(&watch.list, &bot);
    watch.has_rules(1).await;
    watch.ada.say(&watch.list, "!agents help");
    watch.bridge.caught_up().await;
    // what it says it says in order: had it an answer here, that would be there before this one
    let room = watch.ada.make_room(&RoomSetup::default());
    watch.ada.invite(&room, &bot);
    pass_until(&watch.bridge, "a greeting", || !watch.bridge.hs.texts(&room).is_empty()).await;
    assert_eq!(watch.bridge.hs.texts(&watch.list), ["!agents help"]);
}

#[tokio::test]
async fn a_list_is_read_again_once_the_bot_that_was_kicked_is_invited() {
    let watch =
        Watch::of(RoomSetup { alias: Some("bans"), join_rule: "invite", ..RoomSetup::default() }).await;
    let bot = watch.bridge.settings.bot.to_string();
    watch.ada.invite(&watch.list, &bot);
    watch.read().await;
    watch.ada.kick(&watch.list, &bot);
    watch.bridge.caught_up().await;
    watch.ada.set_rule(&watch.list, "user", &watch.eve.user_id, Some("m.ban"));
    watch.ada.invite(&watch.list, &bot);
    watch.has_rules(1).await;
}

#[tokio::test]
async fn the_last_list_is_forgotten_though_it_cannot_be_left_at_once() {
    let mut watch = Watch::new().await;
    watch.list_eve().await;
    let (hs, bot) = (watch.bridge.hs.clone(), watch.bridge.settings.bot.to_string());
    watch.bridge.settings.ban_lists.clear();
    watch.bridge.stop().await;
    hs.always(Call::Leave, Mishap::bad_gateway(When::Before));
    let tried = hs.calls(Call::Leave);
    watch.bridge.boot().await;
    watch.bridge.ready().await;
    pass_until(&watch.bridge, "it tries to leave", || hs.calls(Call::Leave) > tried).await;
    watch.bridge.crash().await;
    hs.recover(Call::Leave);
    watch.bridge.boot().await;
    watch.bridge.ready().await;
    pass_until(&watch.bridge, "the bot is out of it", || !hs.is_joined(&watch.list, &bot)).await;
    pass_until(&watch.bridge, "it is forgotten", || watch.counts() == (0, 0, 0)).await;
}

#[tokio::test]
async fn where_the_alias_leads_elsewhere_the_bot_leaves_the_old_list() {
    let watch = Watch::new().await;
    watch.list_eve().await;
    let (hs, bot) = (watch.bridge.hs.clone(), watch.bridge.settings.bot.to_string());
    let new = watch.ada.make_room(&RoomSetup::default());
    hs.point_alias("bans", &new);
    watch.bridge.clock.advance(60 * 60_000);
    pass_until(&watch.bridge, "the old rules are gone", || watch.counts() == (1, 0, 0)).await;
    assert!(hs.is_joined(&new, &bot) && !hs.is_joined(&watch.list, &bot));
}

#[tokio::test]
async fn a_list_is_forgotten_though_another_cannot_be_read() {
    let (mut watch, _) = Watch::beside_another("invite").await;
    watch.list_eve().await;
    watch.bridge.settings.ban_lists = vec![OTHER.try_into().unwrap()];
    watch.bridge.restart().await;
    pass_until(&watch.bridge, "it is forgotten", || watch.counts() == (0, 1, 0)).await;
}

#[tokio::test]
async fn a_list_stays_in_force_while_it_cannot_be_read_under_its_new_name() {
    let mut watch = Watch::new().await;
    watch.list_eve().await;
    let hs = watch.bridge.hs.clone();
    watch.bridge.settings.ban_lists = vec![watch.list.as_str().try_into().unwrap()];
    watch.bridge.stop().await;
    watch.bridge.boot().await;
    hs.always(Call::State, Mishap::bad_gateway(When::Before));
    pass_until(&watch.bridge, "it cannot be read", || watch.counts().1 == 1).await;
    watch.rest().await;
    assert_eq!(watch.counts(), (1, 1, 1));
    hs.recover(Call::State);
    pass_until(&watch.bridge, "it is read", || watch.counts() == (1, 0, 1)).await;
    assert!(hs.is_joined(&watch.list, watch.bridge.settings.bot.as_str()));
}

/// The tombstone was seen while its room was listed.
#[tokio::test]
async fn a_room_goes_on_in_its_successor_once_no_list_bans_that() {
    let watch = Watch::new().await;
    watch.read().await;
    let (hs, agent) = (watch.bridge.hs.clone(), watch.agent.user_id.to_string());
    let room = watch.room_of_people().await;
    hs.hold_transactions().await;
    let new = watch.ada.upgrade(&room, "public");
    watch.ada.set_rule(&watch.list, "room", &new, Some("m.ban"));
    watch.bridge.clock.advance(60 * 60_000);
    watch.has_rules(1).await;
    hs.release_transactions();
    watch.bridge.caught_up().await;
    watch.rest().await;
    assert!(!hs.is_joined(&new, &agent));
    watch.ada.set_rule(&watch.list, "room", &new, None);
    pass_until(&watch.bridge, "the agent went on", || hs.is_joined(&new, &agent)).await;
}

#[tokio::test]
async fn where_somebody_comes_nobody_else_is_looked_at() {
    let watch = Watch::new().await;
    watch.read().await;
    let (lobby, hs) = (watch.bridge.lobby(), watch.bridge.hs.clone());
    let [bob, mallory] = ["bob", "mallory"].map(|name| hs.person(name));
    for user in [&bob, &watch.eve, &mallory] {
        watch.ada.set_rule(&watch.list, "user", &user.user_id, Some("m.ban"));
    }
    watch.has_rules(3).await;
    // once he is banned, the sweep that the rules called for has been here
    bob.join(&lobby);
    let is_banned = |user: &Person| hs.membership(&lobby, &user.user_id) == "ban";
    eventually_is("Bob is banned", || is_banned(&bob)).await;
    let tried = hs.calls(Call::Ban);
    hs.next(Call::Ban, Mishap::bad_gateway(When::Before));
    watch.eve.join(&lobby);
    hs.until_called(Call::Ban, tried + 1).await;
    mallory.join(&lobby);
    eventually_is("Mallory is banned", || is_banned(&mallory)).await;
    assert_eq!(watch.eve_in(&lobby), "join", "her turn comes with the clock");
    watch.eve_is("ban", &lobby).await;
}

/// Most of them are of something else.
#[tokio::test]
async fn one_redaction_after_another_is_not_a_reason_to_read_a_list_at_once() {
    let watch = Watch::new().await;
    watch.list_eve().await;
    let reads = watch.bridge.hs.calls(Call::State);
    let first = watch.ada.say(&watch.list, "hello");
    watch.ada.redact(&watch.list, &first);
    pass_until(&watch.bridge, "it is read", || watch.bridge.hs.calls(Call::State) > reads).await;
    let reads = watch.bridge.hs.calls(Call::State);
    let said = watch.ada.say(&watch.list, "hello");
    watch.ada.redact(&watch.list, &said);
    watch.bridge.caught_up().await;
    watch.rest().await;
    assert_eq!(watch.bridge.hs.calls(Call::State), reads);
    // an hour is more than this helper lets pass
    pass_until(&watch.bridge, "it is read", || watch.bridge.hs.calls(Call::State) > reads).await;
}

#[tokio::test]
async fn a_rule_of_two_lists_is_one_rule() {
    let (watch, other) = Watch::beside_another("public").await;
    for list in [&watch.list, &other] {
        watch.ada.set_rule(list, "user", &watch.eve.user_id, Some("m.ban"));
    }
    watch.ada.set_rule(&other, "user", "@mallory:example.org", Some("m.ban"));
    watch.rest().await;
    pass_until(&watch.bridge, "all that is read", || watch.counts() == (2, 0, 2)).await;
}

#[tokio::test]
async fn a_ban_that_cannot_be_carried_out_now_is_carried_out_later() {
    let watch = Watch::new().await;
    let lobby = watch.bridge.lobby();
    watch.eve.join(&lobby);
    watch.bridge.hs.next(Call::Ban, Mishap::bad_gateway(When::Before));
    watch.list_eve().await;
    watch.eve_is("ban", &lobby).await;
    let app = watch.bridge.app(Arc::clone);
    let told = eventually("the deed is told", || async {
        let banned =
            app.audit(i64::MAX, 100).await.unwrap().into_iter().filter(|e| e.deed == "member_banned");
        let banned: Vec<_> = banned.map(|e| (e.by, e.room.map(|r| r.1.to_string()))).collect();
        (!banned.is_empty()).then_some(banned)
    })
    .await;
    assert_eq!(told, [("bridge".to_owned(), Some(lobby))]);
}
