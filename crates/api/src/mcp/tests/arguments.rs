//! Arguments as sloppy hosts send them.

use rstest::rstest;
use serde_json::{Value, json};

use super::support::{call, every_call, result};
use crate::double::App;

/// The same is asked as by the tidy form.
#[rstest]
#[case::number_as_text("wait_for_messages", json!({"waitSeconds": "5"}), json!({"waitSeconds": 5}))]
#[case::number_with_blanks("wait_for_messages", json!({"limit": " 5 "}), json!({"limit": 5}))]
#[case::whole_float("wait_for_messages", json!({"waitSeconds": 5.0}), json!({"waitSeconds": 5}))]
#[case::whole_float_as_text("wait_for_messages", json!({"settleSeconds": "5.0"}), json!({"settleSeconds": 5}))]
#[case::huge("wait_for_messages", json!({"limit": 70_000}), json!({"limit": "70000"}))]
#[case::huger("wait_for_messages", json!({"limit": 1e300}), json!({"limit": "99999999999999999999999"}))]
#[case::flag_as_text("wait_for_messages", json!({"mentionsOnly": "True"}), json!({"mentionsOnly": true}))]
#[case::flag_as_text_false("send_message", json!({"text": "a", "mentionsEveryone": "false"}), json!({"text": "a"}))]
#[case::null("wait_for_messages", json!({"wake": null, "from": null, "limit": null, "mentionsOnly": null}), json!({}))]
#[case::empty("wait_for_messages", json!({"wake": "", "from": "", "limit": "", "replyTo": "", "roomId": ""}), json!({}))]
#[case::null_as_text("wait_for_messages", json!({"wake": "null", "from": "null", "roomId": "null"}), json!({}))]
#[case::nothing_for_a_default("send_message", json!({"text": "a", "mentions": null, "mentionsEveryone": ""}), json!({"text": "a"}))]
#[case::list_as_text("wait_for_messages", json!({"from": "[\"@a:x\",\"@b:x\"]"}), json!({"from": ["@a:x", "@b:x"]}))]
#[case::list_as_text_needed("get_messages", json!({"ids": "[\"$a\"]"}), json!({"ids": ["$a"]}))]
#[case::snake("wait_for_messages", json!({"wait_seconds": 5, "room_id": "!r:x"}), json!({"waitSeconds": 5, "roomId": "!r:x"}))]
#[case::pascal("ack", json!({"EventId": "$e"}), json!({"eventId": "$e"}))]
#[case::capitals("ack", json!({"EVENT_ID": "$e", "roomid": "!r:x"}), json!({"eventId": "$e", "roomId": "!r:x"}))]
#[case::true_as_text("answer_knock", json!({"roomId": "!r:x", "agentId": "a", "admit": "true"}),
    json!({"roomId": "!r:x", "agentId": "a", "admit": true}))]
#[case::a_word_that_is_null("join", json!({"name": "Scout", "room": "null", "code": ""}), json!({"name": "Scout"}))]
#[case::a_needed_text_that_is_null("send_message", json!({"text": "null"}), json!({"text": "null", "replyTo": null}))]
#[tokio::test]
async fn read_for_what_they_mean(#[case] tool: &str, #[case] sloppy: Value, #[case] tidy: Value) {
    let asked = App::asked(call(tool, &sloppy)).await;
    assert!(!asked.is_empty(), "refused: {}", result(App::open(), call(tool, &sloppy)).await);
    assert_eq!(asked, App::asked(call(tool, &tidy)).await);
}

#[rstest]
#[case("ack", json!({}), "eventId", "missing")]
#[case("ack", json!({"eventId": null}), "eventId", "missing")]
#[case("ack", json!({"eventId": 5}), "eventId", "a string")]
#[case("ack", json!({"eventId": "$e", "event_id": "$f"}), "eventId", "twice")]
#[case("ack", json!({"eventId": "$e", "rooms": "x"}), "rooms", "takes eventId, roomId")]
#[case("get_self", json!({"x": 1}), "x", "takes token")]
#[case("wait_for_messages", json!({"waitSeconds": -1}), "waitSeconds", "whole number")]
#[case("wait_for_messages", json!({"waitSeconds": 1.5}), "waitSeconds", "whole number")]
#[case("wait_for_messages", json!({"waitSeconds": "soon"}), "waitSeconds", "whole number")]
#[case("wait_for_messages", json!({"wait": 5}), "wait", "waitSeconds")]
#[case("wait_for_messages", json!({"limit": true}), "limit", "whole number")]
#[case("wait_for_messages", json!({"wake": "everything"}), "wake", "related, mentions, all")]
#[case("wait_for_messages", json!({"wake": 5}), "wake", "one of")]
#[case("wait_for_messages", json!({"from": "@a:x"}), "from", "list of strings")]
#[case("wait_for_messages", json!({"from": ["@a:x", 5]}), "from", "list of strings")]
#[case("wait_for_messages", json!({"from": {"a": 1}}), "from", "list of strings")]
#[case("wait_for_messages", json!({"mentionsOnly": 1}), "mentionsOnly", "true or false")]
#[case("wait_for_messages", json!({"mentionsOnly": "yes"}), "mentionsOnly", "true or false")]
#[case("send_message", json!({"text": ["a"]}), "text", "a string")]
#[case("answer_knock", json!({"roomId": "!r:x", "agentId": "a"}), "admit", "missing")]
#[case("answer_knock", json!({"roomId": "!r:x", "agentId": "a", "admit": ""}), "admit", "true or false")]
#[case("room_access", json!({"roomId": "!r:x", "action": "open"}), "action", "show, replace, disable")]
#[case("join", json!({"name": "Scout", "colour": "secret"}), "colour", "takes")]
#[tokio::test]
async fn refused_by_name(
    #[case] tool: &str,
    #[case] arguments: Value,
    #[case] field: &str,
    #[case] said: &str,
) {
    let told = result(App::open(), call(tool, &arguments)).await;
    let envelope = &told["structuredContent"];
    assert_eq!(told["isError"], true, "{told}");
    assert_eq!(envelope["code"], "network_agent.invalid_request");
    assert_eq!(envelope["details"]["field"], field, "{told}");
    assert!(envelope["message"].as_str().unwrap().contains(said), "{told}");
    assert!(!told.to_string().contains("secret"), "values are not repeated");
}

#[tokio::test]
async fn a_token_of_another_type_is_refused_by_name() {
    let told = result(App::open(), call("get_self", &json!({"token": 5})).without("authorization")).await;
    assert_eq!(told["structuredContent"]["details"]["field"], "token");
    let told = result(App::open(), call("get_self", &json!({"token": 5}))).await;
    assert_eq!(told["isError"], false, "a good header wins");
}

#[tokio::test]
async fn no_tool_takes_what_it_does_not_know() {
    for (tool, mut arguments) in every_call() {
        arguments["surprise"] = json!(1);
        let told = result(App::open(), call(tool, &arguments)).await;
        assert_eq!(told["structuredContent"]["details"]["field"], "surprise", "{tool}");
    }
}
