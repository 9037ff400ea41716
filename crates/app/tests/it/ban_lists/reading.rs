//! When a list is read.

use super::*;

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
