//! Lists that move, or that the config names no more.

use super::*;

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
