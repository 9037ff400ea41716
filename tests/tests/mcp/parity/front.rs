//! The two fronts: a tool, and the calls of REST that do the same.

use anyhow::Result;
use parlour_tests::mcp::by_hand;
use parlour_tests::{Agent, Answer, Stack, encode};
use reqwest::Method;
use serde_json::{Value, json};

use crate::common::text;

/// What has no body in REST has one word in MCP.
fn word(tool: &str) -> Value {
    let word = match tool {
        "leave" => "left",
        "close_room" => "closed",
        "remove_agent" => "removed",
        "invite_person" => "invited",
        _ => "declined",
    };
    json!({"schemaVersion": 1, word: true})
}

/// The front that a story goes through.
#[derive(Clone, Copy, Debug)]
pub(super) enum Front {
    Rest,
    Mcp,
}

impl Front {
    /// A call of a tool, or of the route that does the same.
    pub(super) async fn call(
        self,
        stack: &Stack,
        as_who: Option<&Agent>,
        tool: &str,
        arguments: Value,
    ) -> Result<Value> {
        let bridge = stack.bridge.url();
        match (self, as_who) {
            (Self::Mcp, _) => by_hand(&bridge, as_who.map_or("", |a| &a.token), tool, arguments).await,
            (Self::Rest, None) => Ok(Agent::ask_to_join(&bridge, &arguments).await?.body),
            (Self::Rest, Some(agent)) => rest(agent, tool, &arguments).await,
        }
    }
}

async fn rest(agent: &Agent, tool: &str, arguments: &Value) -> Result<Value> {
    let part = |name: &str| encode(text(&arguments[name]));
    let own = |more: &str| format!("/me/private-rooms/{}{more}", part("roomId"));
    let mut page = arguments.clone();
    if let Some(page) = page.as_object_mut() {
        page.remove("roomId");
    }
    let without_room = |name: &str| json!({name: arguments[name]});
    let (method, path, body) = match tool {
        "get_self" => (Method::GET, "/me".to_owned(), None),
        "wait_for_messages" => (Method::GET, format!("/me/messages?{}", query(arguments)), None),
        "ack" => (Method::POST, "/me/ack".to_owned(), Some(arguments.clone())),
        "get_messages" => (Method::GET, format!("/me/messages/lookup?{}", query(arguments)), None),
        "room_messages" => {
            (Method::GET, format!("/me/rooms/{}/messages?{}", part("roomId"), query(&page)), None)
        }
        "send_message" => (Method::POST, "/me/messages".to_owned(), Some(arguments.clone())),
        "enter_room" => (Method::POST, "/me/rooms".to_owned(), Some(arguments.clone())),
        "leave" => (Method::DELETE, "/me".to_owned(), None),
        "create_room" => (Method::POST, "/me/private-rooms".to_owned(), Some(arguments.clone())),
        "room_access" => return access(agent, &own(""), text(&arguments["action"])).await,
        "answer_knock" if arguments["admit"] == true => {
            (Method::PUT, own(&format!("/knocks/{}", part("agentId"))), None)
        }
        "answer_knock" => (Method::DELETE, own(&format!("/knocks/{}", part("agentId"))), None),
        "invite_person" => (Method::POST, own("/invitations"), Some(without_room("accountId"))),
        "remove_agent" => (Method::DELETE, own(&format!("/agents/{}", part("agentId"))), None),
        _ => (Method::DELETE, own(""), None),
    };
    let answer = agent.call(method, &path, body.as_ref()).await?;
    Ok(body_or_word(tool, answer))
}

fn body_or_word(tool: &str, answer: Answer) -> Value {
    if answer.status == 204 { word(tool) } else { answer.body }
}

/// Two or three calls in REST.
async fn access(agent: &Agent, room: &str, action: &str) -> Result<Value> {
    let code = format!("{room}/code");
    match action {
        "disable" => {
            agent.call(Method::DELETE, &code, None).await?.expect(204)?;
        }
        "replace" => {
            agent.call(Method::PUT, &code, None).await?.expect(200)?;
        }
        _ => {}
    }
    let mut shown = agent.get(&code).await?.body;
    if let Some(knocks) = agent.get(&format!("{room}/knocks")).await?.body.get("knocks") {
        shown["knocks"] = knocks.clone();
    }
    Ok(shown)
}

/// The parameters of a query are named otherwise than a tool's arguments.
fn query(arguments: &Value) -> String {
    let name = |name: &str| match name {
        "waitSeconds" => "wait".to_owned(),
        "settleSeconds" => "settle".to_owned(),
        "digestMinutes" => "digest".to_owned(),
        name => name.to_owned(),
    };
    let value = |value: &Value| match value {
        Value::String(text) => encode(text),
        Value::Array(items) => encode(&items.iter().map(text).collect::<Vec<_>>().join(",")),
        value => value.to_string(),
    };
    let pairs = arguments.as_object().into_iter().flatten();
    pairs.map(|(key, given)| format!("{}={}", name(key), value(given))).collect::<Vec<_>>().join("&")
}
