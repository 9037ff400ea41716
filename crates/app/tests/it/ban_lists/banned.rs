//! Who is listed is heard by nobody, and banned.

use parlour_testkit::homeserver::BOT;

use super::*;

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

/// In a lobby that Ada made, the bot may do nothing until she lets it.
#[tokio::test]
async fn a_ban_that_nobody_may_set_is_set_once_somebody_may() {
    let bridge = Bridge::prepare(|s| s.settings.ban_lists = vec![ALIAS.try_into().unwrap()]).await;
    let ada = bridge.hs.person("ada");
    let lobby = ada.make_room(&RoomSetup { alias: Some("lobby"), ..RoomSetup::default() });
    let watch = Watch::beside(bridge, RoomSetup { alias: Some("bans"), ..RoomSetup::default() }).await;
    watch.eve.join(&lobby);
    watch.list_eve().await;
    watch.rest().await;
    assert_eq!((watch.eve_in(&lobby).as_str(), watch.bridge.hs.calls(Call::Ban)), ("join", 0));
    ada.set_state(&lobby, "m.room.power_levels", json!({"users": {BOT: 100}, "ban": 50}));
    watch.eve_is("ban", &lobby).await;
}
