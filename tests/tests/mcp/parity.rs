//! The same story through REST and through MCP: the same bodies. Where they differ, it is said here.

use anyhow::{Context, Result, ensure};
use parlour_tests::mcp::by_hand;
use parlour_tests::{Agent, Answer, Plan, Stack, encode};
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
enum Front {
    Rest,
    Mcp,
}

impl Front {
    /// A call of a tool, or of the route that does the same.
    async fn call(
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

/// What is drawn anew in each run, by the order in which it is first told.
#[derive(Default)]
struct Names(Vec<(String, String)>);

const DRAWN: [&str; 11] = [
    "agentId",
    "token",
    "matrixRoomId",
    "catalogId",
    "displayName",
    "matrixUserId",
    "eventId",
    "messageId",
    "submissionId",
    "correlationId",
    "code",
];

impl Names {
    fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let drawn = DRAWN.contains(&key.as_str()).then(|| value.as_str()).flatten();
                    if let Some(drawn) = drawn.filter(|d| d.len() > 8 && !d.starts_with("network_agent.")) {
                        self.add(key, drawn);
                    }
                    self.learn(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            _ => {}
        }
    }

    fn add(&mut self, key: &str, drawn: &str) {
        if !self.0.iter().any(|(known, _)| known == drawn) {
            self.0.push((drawn.to_owned(), format!("<{key} {}>", self.0.len())));
        }
    }

    fn hide(&mut self, mut body: Value) -> String {
        self.learn(&body);
        still(&mut body);
        self.0.iter().fold(body.to_string(), |text, (drawn, name)| text.replace(drawn.as_str(), name))
    }
}

/// Times, and what only one of the fronts can say.
fn still(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                if key.ends_with("UnixMs") {
                    *value = json!(0);
                }
                still(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(still),
        _ => {}
    }
}

/// One for each front, so that the two see nothing of each other.
const LOBBIES: [&str; 2] = ["north", "south"];

struct Run<'a> {
    stack: &'a Stack,
    front: Front,
    lobby: &'static str,
    names: Names,
    told: Vec<String>,
}

impl Run<'_> {
    async fn say(&mut self, who: Option<&Agent>, tool: &str, arguments: Value) -> Result<Value> {
        let body = self.front.call(self.stack, who, tool, arguments.clone()).await;
        let body = body.with_context(|| format!("{:?} {tool} {arguments}", self.front))?;
        // each front has a lobby of its own, and both are told of
        let mut shown = body.clone();
        if let Some(rooms) = shown.pointer_mut("/details/rooms").and_then(Value::as_array_mut) {
            rooms.sort_by_key(|room| room["onlineAgentCount"].as_u64());
        }
        let shown = self.names.hide(shown);
        let shown = LOBBIES.iter().fold(shown, |shown, lobby| shown.replace(lobby, "<lobby>"));
        self.told.push(format!("{tool}: {shown}"));
        Ok(body)
    }

    /// An agent that has come in through this front.
    async fn join(&mut self, name: &str, more: Value) -> Result<(Agent, Value)> {
        let mut arguments = more;
        arguments["name"] = json!(name);
        let joined = self.say(None, "join", arguments).await?;
        let token = text(&joined["token"]).to_owned();
        self.stack.keep_secret(&token);
        let agent = Agent::known(&self.stack.bridge.url(), &token)?;
        Ok((agent, joined))
    }

    async fn all(&mut self) -> Result<()> {
        self.say(None, "join", json!({"name": "admin"})).await?;
        self.say(None, "join", json!({"name": "Scout", "room": "no such"})).await?;
        self.say(None, "join", json!({"name": "Scout", "room": self.lobby, "code": "x"})).await?;
        let (scout, joined) = self.join("Scout", json!({"room": self.lobby})).await?;
        let lobby = text(&joined["room"]["matrixRoomId"]).to_owned();
        self.talk(&scout, &lobby).await?;
        self.mistakes(&scout, &lobby).await?;
        self.own_room(&scout).await?;
        self.say(Some(&scout), "leave", json!({})).await?;
        let gone = self.say(Some(&scout), "get_self", json!({})).await?;
        ensure!(gone["code"] == "network_agent.unauthorized", "{gone}");
        // each front says in its own way how to sign
        self.told.pop();
        Ok(())
    }

    async fn talk(&mut self, scout: &Agent, lobby: &str) -> Result<()> {
        self.say(Some(scout), "get_self", json!({})).await?;
        self.say(Some(scout), "wait_for_messages", json!({"waitSeconds": 0})).await?;
        let (other, _) = self.join("Other", json!({"room": self.lobby})).await?;
        let sent = self
            .say(Some(&other), "send_message", json!({"text": "x".repeat(1500), "roomId": lobby}))
            .await?;
        let wait = json!({"waitSeconds": 30, "wake": "all", "settleSeconds": 0, "limit": 5, "roomId": lobby});
        self.say(Some(scout), "wait_for_messages", wait).await?;
        self.say(Some(scout), "get_messages", json!({"ids": [sent["eventId"], "$none"]})).await?;
        let answer = json!({"text": "Yes", "replyTo": sent["submissionId"]});
        let answered = self.say(Some(scout), "send_message", answer).await?;
        self.say(Some(scout), "room_messages", json!({"roomId": lobby, "limit": 1})).await?;
        let around = json!({"roomId": lobby, "around": answered["eventId"], "limit": 2});
        self.say(Some(scout), "room_messages", around).await?;
        self.say(Some(scout), "ack", json!({"eventId": sent["eventId"]})).await?;
        self.say(Some(scout), "ack", json!({"eventId": sent["eventId"]})).await?;
        self.say(Some(&other), "leave", json!({})).await?;
        Ok(())
    }

    async fn mistakes(&mut self, scout: &Agent, lobby: &str) -> Result<()> {
        let who = Some(scout);
        for (tool, arguments) in [
            ("wait_for_messages", json!({"mentionsOnly": true, "wake": "all"})),
            ("wait_for_messages", json!({"from": ["nobody"]})),
            ("wait_for_messages", json!({"waitFor": ["mentioned"]})),
            ("wait_for_messages", json!({"roomId": "!elsewhere:hs.test"})),
            ("wait_for_messages", json!({"waitSeconds": 0, "limit": 0})),
            ("ack", json!({"eventId": "$unknown"})),
            ("ack", json!({"eventId": ""})),
            ("get_messages", json!({"ids": vec!["$a"; 21]})),
            ("room_messages", json!({"roomId": lobby, "limit": 51})),
            ("room_messages", json!({"roomId": lobby, "before": "$a", "after": "$b"})),
            ("room_messages", json!({"roomId": lobby, "around": "$none"})),
            ("send_message", json!({"text": ""})),
            ("send_message", json!({"text": "a", "replyTo": "$none"})),
            ("send_message", json!({"text": "a", "mentions": ["nobody"]})),
            ("send_message", json!({"text": "a", "mentionsEveryone": true})),
            ("send_message", json!({"text": "a", "submissionId": "x"})),
            ("send_message", json!({"text": "a", "roomId": "!elsewhere:hs.test"})),
            ("enter_room", json!({"code": "0123-4567-89AB"})),
            ("enter_room", json!({"room": "no such"})),
            ("enter_room", json!({"room": self.lobby})),
            ("create_room", json!({"name": "\u{7}"})),
            ("close_room", json!({"roomId": lobby})),
            ("remove_agent", json!({"roomId": lobby, "agentId": "x"})),
        ] {
            self.say(who, tool, arguments).await?;
        }
        Ok(())
    }

    async fn own_room(&mut self, scout: &Agent) -> Result<()> {
        let who = Some(scout);
        let made = self.say(who, "create_room", json!({"name": "Den"})).await?;
        self.stack.keep_secret(text(&made["code"]["code"]));
        self.say(who, "create_room", json!({"name": "Den"})).await?;
        self.say(who, "send_message", json!({"text": "which room?"})).await?;
        let room = made["room"]["catalogId"].clone();
        let own = |more: Value| {
            let mut arguments = more;
            arguments["roomId"] = room.clone();
            arguments
        };
        self.say(who, "room_access", own(json!({}))).await?;
        self.say(who, "room_access", own(json!({"action": "replace"}))).await?;
        self.say(who, "room_access", own(json!({"action": "disable"}))).await?;
        let (_, friend) = self.join("Friend", json!({"room": room})).await?;
        self.say(who, "room_access", own(json!({"action": "replace"}))).await?;
        self.say(who, "wait_for_messages", json!({"waitSeconds": 30})).await?;
        self.say(who, "get_self", json!({})).await?;
        let agent = friend["agentId"].clone();
        self.say(who, "answer_knock", own(json!({"agentId": agent, "admit": true}))).await?;
        self.say(who, "answer_knock", own(json!({"agentId": agent, "admit": false}))).await?;
        let (_, stranger) = self.join("Stranger", json!({"room": room})).await?;
        self.say(who, "answer_knock", own(json!({"agentId": stranger["agentId"], "admit": false}))).await?;
        self.say(who, "invite_person", own(json!({"accountId": "@nobody:hs.test"}))).await?;
        self.say(who, "invite_person", own(json!({"accountId": "@ada:hs.test"}))).await?;
        self.say(who, "remove_agent", own(json!({"agentId": agent}))).await?;
        self.say(who, "remove_agent", own(json!({"agentId": "x"}))).await?;
        let text =
            json!({"text": "all of you", "roomId": made["room"]["matrixRoomId"], "mentionsEveryone": true});
        self.say(who, "send_message", text.clone()).await?;
        self.say(who, "close_room", own(json!({}))).await?;
        self.say(who, "close_room", own(json!({}))).await?;
        self.say(who, "send_message", text).await?;
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_story_through_both_fronts() -> Result<()> {
    let stack = Stack::start(Plan { lobbies: vec!["lobby", "north", "south"], ..Plan::default() }).await?;
    stack.person("ada")?;
    let mut told = Vec::new();
    for (front, lobby) in [Front::Rest, Front::Mcp].into_iter().zip(LOBBIES) {
        let mut run = Run { stack: &stack, front, lobby, names: Names::default(), told: Vec::new() };
        run.all().await?;
        told.push(run.told);
    }
    for (rest, mcp) in told[0].iter().zip(&told[1]) {
        assert_eq!(rest, mcp);
    }
    assert_eq!(told[0].len(), told[1].len());
    stack.finish().await
}

/// At one moment, by one agent. In MCP two names differ, and so does how to sign.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_of_mistakes() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let bridge = stack.bridge.url();
    let scout = stack.agent("Scout", None).await?;
    for (argument, parameter, wrong) in [("settleSeconds", "settle", 31), ("digestMinutes", "digest", 0)] {
        let mcp = by_hand(&bridge, &scout.token, "wait_for_messages", json!({argument: wrong})).await?;
        let rest = scout.wait(&format!("{parameter}={wrong}")).await?.refusal(400, "invalid_request")?;
        assert_eq!(
            (&mcp["details"]["field"], &rest["details"]["field"]),
            (&json!(argument), &json!(parameter))
        );
        assert_eq!(text(&mcp["message"]), text(&rest["message"]).replacen(parameter, argument, 1));
    }
    let lobbies = by_hand(&bridge, "", "list_rooms", json!({})).await?;
    assert_eq!(lobbies, scout.get("/rooms").await?.expect(200)?);
    let unsigned = by_hand(&bridge, "", "get_self", json!({})).await?;
    let rest = Agent::known(&bridge, "nobody")?.get("/me").await?.refusal(401, "unauthorized")?;
    assert_eq!(unsigned["code"], rest["code"]);
    stack.finish().await
}
