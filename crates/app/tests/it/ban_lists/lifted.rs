//! Who is listed no more is let back in.

use super::*;

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
