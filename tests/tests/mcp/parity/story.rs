//! The story: all that an agent can do, and most of what it can do wrong.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Stack};
use serde_json::{Value, json};

use super::{front::Front, names::Names};
use crate::common::text;

/// One for each front, so that the two see nothing of each other.
pub(super) const LOBBIES: [&str; 2] = ["north", "south"];

pub(super) struct Run<'a> {
    stack: &'a Stack,
    front: Front,
    lobby: &'static str,
    names: Names,
    told: Vec<String>,
}

impl<'a> Run<'a> {
    pub(super) fn new(stack: &'a Stack, front: Front, lobby: &'static str) -> Self {
        Self { stack, front, lobby, names: Names::default(), told: Vec::new() }
    }

    /// Gives what was told, call by call.
    pub(super) async fn finish(mut self) -> Result<Vec<String>> {
        self.all().await?;
        Ok(self.told)
    }

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
