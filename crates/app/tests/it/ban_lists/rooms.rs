//! Rooms that a list bans, and invitations of whom it bans.

use super::*;

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
