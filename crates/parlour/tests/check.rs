//! `parlour check` against homeservers with every kind of trouble.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "support/fake.rs"]
mod fake;
mod support;

use std::fs;

use fake::{Fake, PingBack, alias, error, json_answer, ping, whoami};
use rstest::rstest;
use serde_json::json;
use support::{Place, free_port, taken_port};
use wiremock::{
    Mock, ResponseTemplate,
    matchers::{path_regex, query_param},
};

#[tokio::test]
async fn all_in_place() {
    let run = Fake::good().await.check("").await;
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    for begin in [
        "config",
        "registration",
        "storage",
        "server.listen",
        "homeserver",
        "as_token",
        "people.bot",
        "ping",
        "lobby",
    ] {
        run.assert_says(&format!("ok  {begin}: "), &[]);
    }
    assert!(!run.stdout.contains("!!"), "{}", run.stdout);
}

#[tokio::test]
async fn changes_nothing() {
    let fake = Fake::good().await;
    let place = Place::registered(&fake.url(), "");
    let folder = place.path("");
    let run = tokio::task::spawn_blocking(move || {
        let run = place.run(&["check"]);
        (run, fs::read_dir(folder).unwrap().count(), place)
    });
    let (run, files, _place) = run.await.unwrap();
    assert_eq!((run.code, files), (Some(0), 2), "{run:?}");
}

#[test]
fn config_and_registration() {
    let place = Place::new("http://127.0.0.1:9", "[severs]\n");
    let run = place.run(&["check"]);
    run.assert_fails_with(&["check found a problem"]);
    run.assert_says("!!  config: ", &["parlour.toml: severs", "did you mean server?"]);

    let place = Place::new("http://127.0.0.1:9", "");
    let run = place.run(&["check"]);
    run.assert_says("!!  registration: ", &["registration.yaml", "parlour registration"]);

    let place = Place::registered("http://127.0.0.1:9", "");
    place.write("parlour.toml", &place.read("parlour.toml").replace("'lobby'", "'hall'"));
    place.run(&["check"]).assert_says("!!  registration: ", &["no longer fits", "#hall:hs.test"]);
}

#[test]
fn down() {
    let port = free_port();
    let run = Place::registered(&format!("http://127.0.0.1:{port}"), "").run(&["check"]);
    run.assert_fails_with(&["!!"]);
    run.assert_says(
        "!!  homeserver: ",
        &[&port.to_string(), "cannot be reached", "refused", "homeserver.url"],
    );
}

#[rstest]
#[case::html(ResponseTemplate::new(200).set_body_raw("<html>", "text/html"), "not to a web page")]
#[case::not_found(ResponseTemplate::new(404).set_body_raw("<html>", "text/html"), "not to a web page")]
#[case::other_json(json_answer(200, &json!({"hello": "world"})), "not to a web page")]
#[case::redirect(ResponseTemplate::new(301).insert_header("location", "https://hs.test/"), "that it redirects to")]
#[case::proxy(ResponseTemplate::new(502), "down")]
#[tokio::test]
async fn no_homeserver(#[case] answer: ResponseTemplate, #[case] todo: &str) {
    let run = Fake::always(answer).await.check("").await;
    run.assert_fails_with(&["!!"]);
    run.assert_says("!!  homeserver: ", &["does not answer as a Matrix homeserver", todo]);
}

#[tokio::test]
async fn unknown_token() {
    let fake = Fake::good().await;
    fake.instead(whoami(), error(401, "M_UNKNOWN_TOKEN")).await;
    let run = fake.check("").await;
    assert_eq!(run.code, Some(1));
    run.assert_says("!!  as_token: ", &["app_service_config_files", "restart", "M_UNKNOWN_TOKEN"]);
}

#[rstest]
#[case::other_server("@_parlour_parlour:other.test", "!!  server_name: ", "other.test")]
#[case::other_appservice("@_irc_bridge:hs.test", "!!  as_token: ", "_irc_bridge")]
#[tokio::test]
async fn somebody_else(#[case] user: &str, #[case] begin: &str, #[case] part: &str) {
    let fake = Fake::good().await;
    fake.instead(whoami(), json_answer(200, &json!({"user_id": user}))).await;
    let run = fake.check("").await;
    assert_eq!(run.code, Some(1));
    run.assert_says(begin, &[part]);
}

#[rstest]
#[case::not_yet("M_UNKNOWN", Some(0), "ok  people.bot: ")]
#[case::a_person("M_USER_IN_USE", Some(1), "!!  people.bot: ")]
#[tokio::test]
async fn no_bot(#[case] available: &str, #[case] code: Option<i32>, #[case] begin: &str) {
    let fake = Fake::good().await;
    fake.instead(whoami().and(query_param("user_id", "@parlour:hs.test")), error(403, "M_FORBIDDEN")).await;
    fake.instead(Mock::given(path_regex("/register/available")), error(400, available)).await;
    let run = fake.check("").await;
    assert_eq!(run.code, code, "{run:?}");
    run.assert_says(begin, &["@parlour:hs.test"]);
}

#[rstest]
#[case("M_CONNECTION_FAILED", "cannot reach us at http://127.0.0.1:")]
#[case("M_BAD_STATUS", "something else than this bridge answers")]
#[case("M_URL_NOT_SET", "has no url")]
#[case("M_FORBIDDEN", "under another id")]
#[tokio::test]
async fn failing_pings(#[case] errcode: &str, #[case] part: &str) {
    let fake = Fake::good().await;
    fake.instead(ping(), error(502, errcode)).await;
    let run = fake.check("").await;
    assert_eq!(run.code, Some(1));
    run.assert_says("!!  ping: ", &[part, errcode]);
}

#[tokio::test]
async fn a_homeserver_without_ping_is_no_problem() {
    let fake = Fake::good().await;
    fake.instead(ping(), error(404, "M_UNRECOGNIZED")).await;
    let run = fake.check("").await;
    assert_eq!(run.code, Some(0), "{run:?}");
    run.assert_says("--  ping: ", &["knows no ping"]);
}

#[rstest]
#[case::ours(None, Some(0), "ok  ping: ", "reaches us")]
#[case::stale(Some("stale"), Some(1), "!!  ping: ", "another hs_token")]
#[tokio::test(flavor = "multi_thread")]
async fn the_check_takes_the_ping_itself(
    #[case] token: Option<&str>,
    #[case] code: Option<i32>,
    #[case] begin: &str,
    #[case] part: &str,
) {
    let (fake, port) = (Fake::good().await, free_port());
    let place = Place::listening_on(port, &fake.url(), "");
    assert_eq!(place.run(&["registration"]).code, Some(0));
    let yaml = place.read("registration.yaml");
    let ours = yaml.lines().find_map(|l| l.strip_prefix("hs_token: ")).unwrap().trim_matches('\'');
    let hs_token = token.unwrap_or(ours).to_owned();
    fake.instead(ping(), PingBack { port, hs_token }).await;
    let run = fake.check_in(place).await;
    assert_eq!(run.code, code, "{run:?}");
    run.assert_says(begin, &[part]);
}

#[tokio::test]
async fn a_port_of_somebody_else() {
    let (_held, port) = taken_port();
    let fake = Fake::good().await;
    let place = Place::listening_on(port, &fake.url(), "");
    assert_eq!(place.run(&["registration"]).code, Some(0));
    let run = fake.check_in(place).await;
    run.assert_says("!!  server.listen: ", &["another program listens there"]);
    run.assert_says("!!  ping: ", &["left out"]);
}

#[tokio::test]
async fn a_running_parlour_is_fine() {
    let (_held, port) = taken_port();
    let fake = Fake::good().await;
    let place = Place::listening_on(port, &fake.url(), "");
    assert_eq!(place.run(&["registration"]).code, Some(0));
    fs::create_dir(place.path("data")).unwrap();
    let lock = fs::File::create(place.path("data/parlour.lock")).unwrap();
    lock.lock().unwrap();
    let run = fake.check_in(place).await;
    assert_eq!(run.code, Some(0), "{run:?}");
    run.assert_says("ok  storage: ", &["the parlour that runs"]);
    run.assert_says("ok  server.listen: ", &["the parlour that runs"]);
}

#[test]
fn a_data_folder_that_cannot_be_used() {
    let place = Place::registered("http://127.0.0.1:9", "");
    place.write("data", "a file");
    place.run(&["check"]).assert_says("!!  storage: ", &["data", "storage.path"]);
}

/// What the fake says about the room behind the alias.
#[rstest]
#[case::public(json!({"room_id": "!a", "join_rule": "public"}), Some(0), "ok  lobby: ", "the bot will join it")]
#[case::encrypted(json!({"room_id": "!a", "join_rule": "public", "encryption": "m.megolm.v1.aes-sha2"}), Some(1), "!!  lobby: ", "encrypted")]
#[case::knock(json!({"room_id": "!a", "join_rule": "knock"}), Some(1), "!!  lobby: ", "cannot see or enter")]
#[tokio::test]
async fn an_alias_of_somebody_else(
    #[case] summary: serde_json::Value,
    #[case] code: Option<i32>,
    #[case] begin: &str,
    #[case] part: &str,
) {
    let fake = Fake::good().await;
    fake.instead(alias(), json_answer(200, &json!({"room_id": "!a"}))).await;
    fake.instead(Mock::given(path_regex("/state/")), error(403, "M_FORBIDDEN")).await;
    fake.instead(Mock::given(path_regex("/room_summary/")), json_answer(200, &summary)).await;
    let run = fake.check("").await;
    assert_eq!(run.code, code, "{run:?}");
    run.assert_says(begin, &["#lobby:hs.test", part]);
}

#[tokio::test]
async fn a_lobby_that_became_encrypted() {
    let fake = Fake::good().await;
    fake.instead(alias(), json_answer(200, &json!({"room_id": "!a"}))).await;
    fake.instead(Mock::given(path_regex("/state/")), json_answer(200, &json!({"membership": "join"}))).await;
    let run = fake.check("").await;
    assert_eq!(run.code, Some(1));
    run.assert_says("!!  lobby: ", &["encrypted", "another alias"]);
}

/// To a bot that was sent out of a ban list Synapse still shows how the room was.
#[rstest]
#[case::inside("join", "ok  moderation.ban_lists: ", "the bot reads it")]
#[case::sent_out("leave", "--  moderation.ban_lists: ", "cannot be looked at")]
#[tokio::test]
async fn a_ban_list(#[case] membership: &str, #[case] begin: &str, #[case] says: &str) {
    let fake = Fake::good().await;
    let state = json_answer(200, &json!({"membership": membership}));
    fake.instead(Mock::given(path_regex("bans.*/state/")), state).await;
    fake.check("[moderation]\nban_lists = ['!bans:hs.test']").await.assert_says(begin, &[says]);
}

#[tokio::test]
async fn a_closed_room_that_nobody_may_see() {
    let fake = Fake::good().await;
    fake.instead(alias(), json_answer(200, &json!({"room_id": "!a"}))).await;
    fake.instead(Mock::given(path_regex("/state/|/room_summary/")), error(403, "M_FORBIDDEN")).await;
    fake.check("").await.assert_says("!!  lobby: ", &["cannot see or enter"]);
}

#[rstest]
#[case::https(
    "public_url = 'https://a.example'",
    "--  server.trusted_proxies: ",
    "X-Forwarded-For is ignored"
)]
#[case::trusted(
    "public_url = 'https://a.example'\ntrusted_proxies = ['127.0.0.1']",
    "ok  server.trusted_proxies: ",
    "believed"
)]
fn proxies(#[case] more: &str, #[case] begin: &str, #[case] part: &str) {
    let place = Place::new("http://127.0.0.1:9", "");
    let config = place.read("parlour.toml").replace("[server]\n", &format!("[server]\n{more}\n"));
    place.write("parlour.toml", &config);
    place.run(&["check"]).assert_says(begin, &[part]);
}
