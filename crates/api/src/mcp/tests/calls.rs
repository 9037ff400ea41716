//! Each tool asks the same of the use cases as its REST route, and answers with the same body.

use rstest::rstest;
use serde_json::{Value, json};

use super::support::{call, every_call, result, signed};
use crate::{
    double::App,
    tests::support::{Ask, TOKEN, delete, get, post, put, response},
};

async fn rest(app: App, ask: Ask) -> Value {
    let body = response(app, ask).await.into_body();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

const ROOM: &str = "/me/private-rooms/!r:x";

/// A tool's call and the REST call that does the same.
#[rstest]
#[case::list_rooms("list_rooms", json!({}), get("/rooms"))]
#[case::join("join", json!({"name": "Scout", "code": "c"}), post("", r#"{"name":"Scout","code":"c"}"#))]
#[case::enter("enter_room", json!({"room": "lobby"}), post("/me/rooms", r#"{"room":"lobby"}"#))]
#[case::get_self("get_self", json!({}), get("/me"))]
#[case::wait(
    "wait_for_messages",
    json!({"waitSeconds": 99, "limit": 0, "wake": "all", "from": ["@a:x"], "waitFor": ["mentioned"], "replyTo": "$e",
        "settleSeconds": 0, "digestMinutes": 1440, "roomId": "!r:x", "mentionsOnly": true}),
    get("/me/messages?wait=99&limit=0&wake=all&from=@a:x&waitFor=mentioned&replyTo=$e&settle=0&digest=1440&roomId=!r:x\
         &mentionsOnly=true")
)]
#[case::wait_plainly("wait_for_messages", json!({}), get("/me/messages"))]
#[case::ack("ack", json!({"eventId": "$e", "roomId": "!r:x"}), post("/me/ack", r#"{"eventId":"$e","roomId":"!r:x"}"#))]
#[case::lookup("get_messages", json!({"ids": ["$a", "$b", "$c"]}), get("/me/messages/lookup?ids=$a,$b,$c"))]
#[case::browse(
    "room_messages",
    json!({"roomId": "!r:x", "before": "$b", "limit": 7, "from": "@a:x", "mentionsMe": true}),
    get("/me/rooms/!r:x/messages?before=$b&limit=7&from=@a:x&mentionsMe=true")
)]
#[case::send(
    "send_message",
    json!({"text": "Hi", "roomId": "!r:x", "replyTo": "$e", "mentions": ["@a:x"], "mentionsEveryone": true,
        "submissionId": "s"}),
    post("/me/messages", r#"{"text":"Hi","roomId":"!r:x","replyTo":"$e","mentions":["@a:x"],"mentionsEveryone":true,
        "submissionId":"s"}"#)
)]
#[case::create("create_room", json!({"name": "Den"}), post("/me/private-rooms", r#"{"name":"Den"}"#))]
#[case::admit(
    "answer_knock",
    json!({"roomId": "!r:x", "agentId": "a", "admit": true}),
    put(&format!("{ROOM}/knocks/a"))
)]
#[tokio::test]
async fn as_in_rest(#[case] tool: &str, #[case] arguments: Value, #[case] same: Ask) {
    for app in [
        App::open,
        || App::open().with_everything(),
        || App::open().behind_a_door(),
        || App::open().unconfirmed(),
    ] {
        let told = result(app(), call(tool, &arguments)).await;
        assert_eq!(told["isError"], false);
        assert_eq!(told["structuredContent"], rest(app(), same.clone()).await);
    }
    assert_eq!(App::asked(call(tool, &arguments)).await, App::asked(same).await);
}

/// Where REST has no body.
#[rstest]
#[case::leave("leave", json!({}), "left", delete("/me"))]
#[case::decline("answer_knock", json!({"roomId": "!r:x", "agentId": "a", "admit": false}), "declined",
    delete(&format!("{ROOM}/knocks/a")))]
#[case::invite("invite_person", json!({"roomId": "!r:x", "accountId": "@ada:x"}), "invited",
    post(&format!("{ROOM}/invitations"), r#"{"accountId":"@ada:x"}"#))]
#[case::remove("remove_agent", json!({"roomId": "!r:x", "agentId": "a"}), "removed",
    delete(&format!("{ROOM}/agents/a")))]
#[case::close("close_room", json!({"roomId": "!r:x"}), "closed", delete(ROOM))]
#[tokio::test]
async fn where_rest_has_no_body(
    #[case] tool: &str,
    #[case] arguments: Value,
    #[case] word: &str,
    #[case] same: Ask,
) {
    let told = result(App::open(), call(tool, &arguments)).await;
    assert_eq!(told["structuredContent"], json!({"schemaVersion": 1, word: true}));
    assert_eq!(App::asked(call(tool, &arguments)).await, App::asked(same).await);
}

#[rstest]
#[case::left_out(json!({}), "show_or_make_code")]
#[case::show(json!({"action": "show"}), "show_or_make_code")]
#[case::replace(json!({"action": "replace"}), "replace_code")]
#[case::disable(json!({"action": "disable"}), "disable_code")]
#[tokio::test]
async fn the_door_of_a_room(#[case] mut arguments: Value, #[case] first: &str) {
    arguments["roomId"] = json!("!r:x");
    let asked = App::asked(call("room_access", &arguments)).await;
    assert!(asked.starts_with(&format!("{first} \"!r:x\"")), "{asked}");
    assert!(asked.ends_with("list_knocks \"!r:x\""), "{asked}");
    let told = result(App::open().behind_a_door(), call("room_access", &arguments)).await;
    let mut expected = rest(App::open().behind_a_door(), get(&format!("{ROOM}/code"))).await;
    let knocks = rest(App::open().behind_a_door(), get(&format!("{ROOM}/knocks"))).await;
    expected["knocks"] = knocks["knocks"].clone();
    assert_eq!(told["structuredContent"], expected);
}

/// The last text is the body once more, for hosts that show no structured content.
#[tokio::test]
async fn texts() {
    let mut all = Vec::new();
    for (tool, arguments) in every_call() {
        for (name, app) in [
            ("plain", App::open()),
            ("full", App::open().with_everything()),
            ("door", App::open().behind_a_door()),
            ("pending", App::open().unconfirmed()),
        ] {
            let told = result(app, call(tool, &arguments)).await;
            let content = told["content"].as_array().unwrap();
            let copy: Value =
                serde_json::from_str(content.last().unwrap()["text"].as_str().unwrap()).unwrap();
            assert_eq!(copy, told["structuredContent"], "{tool}");
            let next = (content.len() > 1).then(|| content[0]["text"].as_str().unwrap());
            let line = format!("{tool}: {}", next.unwrap_or("-"));
            if !all.iter().any(|(_, known): &(&str, String)| *known == line) {
                all.push((name, line));
            }
        }
    }
    let shown: Vec<String> = all.into_iter().map(|(name, line)| format!("[{name}] {line}")).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[tokio::test]
async fn errors_are_results_with_the_envelope() {
    let told = result(App::broken(), call("get_self", &json!({}))).await;
    assert_eq!(told["isError"], true);
    assert_eq!(told["structuredContent"], rest(App::broken(), get("/me")).await);
    let first = told["content"][0]["text"].as_str().unwrap();
    assert!(first.starts_with("[network_agent.dependency_unavailable] The Matrix server"), "{first}");
    let last = told["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&last).unwrap(), told["structuredContent"]);
}

#[tokio::test]
async fn a_tool_that_panics_is_an_error_and_no_silence() {
    let told = result(App::broken(), call("list_rooms", &json!({}))).await;
    assert_eq!(told["structuredContent"]["code"], "network_agent.internal");
    assert!(!told.to_string().contains("secret"));
}

#[tokio::test]
async fn switched_off_comes_first() {
    for (tool, _) in every_call() {
        let told =
            result(App::switched_off(), call(tool, &json!({"unknown": 1})).without("authorization")).await;
        assert_eq!(told["structuredContent"]["code"], "network_agent.disabled", "{tool}");
    }
}

#[rstest]
#[case::header(true, None, true)]
#[case::argument(false, Some(TOKEN), true)]
#[case::argument_as_a_header(false, Some("Bearer parlour_token"), true)]
#[case::both(true, Some("parlour_other"), true)]
#[case::none(false, None, false)]
#[case::bad_argument(false, Some("parlour_other"), false)]
#[case::empty_argument(false, Some(""), false)]
#[tokio::test]
async fn tokens(#[case] header: bool, #[case] argument: Option<&str>, #[case] fine: bool) {
    for (tool, mut arguments) in every_call().into_iter().skip(2) {
        if let Some(token) = argument {
            arguments["token"] = json!(token);
        }
        let ask = call(tool, &arguments);
        let told = result(App::open(), if header { ask } else { ask.without("authorization") }).await;
        assert_eq!(told["isError"], !fine, "{tool} {told}");
        if !fine {
            assert_eq!(told["structuredContent"]["code"], "network_agent.unauthorized");
        }
    }
}

#[tokio::test]
async fn an_argument_stands_in_for_a_bad_header() {
    let ask = call("get_self", &signed(&json!({}))).with("authorization", "Bearer of-the-host");
    assert_eq!(result(App::open(), ask).await["isError"], false);
}

/// Who may not call learns nothing about how.
#[tokio::test]
async fn the_token_comes_before_the_arguments() {
    let told = result(App::open(), call("ack", &json!({"x": 1})).without("authorization")).await;
    assert_eq!(told["structuredContent"]["code"], "network_agent.unauthorized");
}

#[tokio::test]
async fn these_two_take_no_token() {
    for (tool, arguments) in every_call().into_iter().take(2) {
        let told = result(App::open(), call(tool, &arguments).without("authorization")).await;
        assert_eq!(told["isError"], false, "{tool}");
        let told = result(App::open(), call(tool, &signed(&arguments))).await;
        assert_eq!(told["structuredContent"]["details"]["field"], "token", "{tool}");
    }
}
