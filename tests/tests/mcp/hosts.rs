//! The official clients, each through a whole conversation: lobby, private room, every tool.

use anyhow::{Context, Result, ensure};
use parlour_tests::mcp::{Host, McpClient, conformance};
use parlour_tests::{Agent, Person, Plan, Stack, event_ids, fresh_uuid};
use serde_json::{Value, json};

use crate::common::{mentioning, text};

const HOSTS: [Host; 7] = [
    Host::Python("auto", "both"),
    Host::Python("auto", "sse"),
    Host::Python("legacy", "both"),
    Host::Python("legacy", "sse"),
    Host::TypeScript("both"),
    Host::TypeScript("sse"),
    Host::Inspector,
];

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_conversation_with_each_host() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    for (at, host) in HOSTS.into_iter().enumerate() {
        // every second one cannot set headers
        let talk = Talk::begin(&stack, &ada, host, at % 2 == 0).await.with_context(|| format!("{host:?}"))?;
        talk.all().await.with_context(|| format!("{host:?}"))?;
    }
    stack.finish().await
}

/// One agent behind a host, in the lobby with a person.
struct Talk<'a> {
    stack: &'a Stack,
    ada: &'a Person,
    host: McpClient,
    /// Where the host cannot send it as a header.
    token: Option<String>,
    name: String,
    lobby: String,
}

impl<'a> Talk<'a> {
    async fn begin(stack: &'a Stack, ada: &'a Person, host: Host, header: bool) -> Result<Self> {
        let mut host = McpClient::connect(host, &stack.bridge.url()).await?;
        ensure!(host.tools().await?.len() == 16, "not all tools are there");
        let rooms = host.ask("list_rooms", &json!({})).await?;
        ensure!(rooms["rooms"][0]["slug"] == "lobby" && rooms["schemaVersion"] == 1, "{rooms}");
        host.refused("get_self", &json!({}), "unauthorized").await?;
        let joined = host.ask("join", &json!({"name": "Scout"})).await?;
        let token = text(&joined["token"]).to_owned();
        stack.keep_secret(&token);
        if header {
            host.sign(&token).await?;
        }
        let token = (!header).then_some(token);
        let name = text(&joined["displayName"]).to_owned();
        let lobby = text(&joined["room"]["matrixRoomId"]).to_owned();
        Ok(Self { stack, ada, host, token, name, lobby })
    }

    async fn ask(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let arguments = self.signed(arguments);
        self.host.ask(tool, &arguments).await
    }

    fn signed(&self, mut arguments: Value) -> Value {
        if let Some(token) = &self.token {
            arguments["token"] = json!(token);
        }
        arguments
    }

    async fn all(mut self) -> Result<()> {
        self.in_the_lobby().await?;
        let room = self.in_a_room_of_its_own().await?;
        self.at_the_door(&room).await?;
        self.ask("close_room", json!({"roomId": room.number})).await?;
        let arguments = self.signed(json!({"text": "too late", "roomId": room.id}));
        self.host.refused("send_message", &arguments, "forbidden").await?;
        assert_eq!(self.ask("leave", json!({})).await?, json!({"schemaVersion": 1, "left": true}));
        let arguments = self.signed(json!({}));
        self.host.refused("get_self", &arguments, "unauthorized").await?;
        Ok(())
    }

    /// A person asks, the agent answers.
    async fn in_the_lobby(&mut self) -> Result<()> {
        self.ada.join(&self.lobby).await?;
        let puppet = self.ada.member_named(&self.lobby, &self.name).await?;
        let me = self.ask("get_self", json!({})).await?;
        ensure!(me["displayName"] == self.name && me["rooms"][0]["matrixRoomId"] == self.lobby, "{me}");
        // what was said before
        let context = self.ask("wait_for_messages", json!({"waitSeconds": 0})).await?;
        if let Some(last) = event_ids(&context).last() {
            self.ask("ack", json!({"eventId": last})).await?;
        }
        let words = "What is the weather like?";
        let asked = self.ada.message(&self.lobby, &mentioning(words, &[&puppet])).await?;
        let heard = self.ask("wait_for_messages", json!({"waitSeconds": 30, "settleSeconds": 0})).await?;
        ensure!(heard["wake"] == json!({"reason": "messages", "eventIds": [asked]}), "{heard}");
        let message = &heard["messages"][0];
        ensure!(message["conversation"]["text"] == words && message["mentionsMe"] == true, "{message}");
        let answer = json!({"text": "Sunny.", "replyTo": message["messageId"], "submissionId": fresh_uuid()});
        let sent = self.ask("send_message", answer.clone()).await?;
        ensure!(sent["status"] == "sent" && sent["submissionId"] == answer["submissionId"], "{sent}");
        assert_eq!(self.ask("send_message", answer).await?, sent, "said once");
        let event = self.ada.see_event(text(&sent["eventId"])).await?;
        ensure!(event["content"]["m.relates_to"]["m.in_reply_to"]["event_id"] == asked, "no reply: {event}");
        let acked = self.ask("ack", json!({"eventId": asked})).await?;
        ensure!(acked["acknowledged"] == true && acked["pending"] == 0, "{acked}");
        let found = self.ask("get_messages", json!({"ids": [asked, sent["eventId"], "$nothing"]})).await?;
        ensure!(event_ids(&found) == [asked.as_str(), text(&sent["eventId"])], "{found}");
        assert_eq!(found["missing"], json!(["$nothing"]));
        let page = self.ask("room_messages", json!({"roomId": self.lobby, "limit": 2})).await?;
        assert_eq!(event_ids(&page), [text(&sent["eventId"]), asked.as_str()], "newest first");
        Ok(())
    }

    /// An agent comes by the code, a person is invited.
    async fn in_a_room_of_its_own(&mut self) -> Result<Room> {
        let made = self.ask("create_room", json!({"name": "Den"})).await?;
        let room = Room::of(&made)?;
        self.stack.keep_secret(&room.code);
        let body = json!({"name": "Guest", "code": room.code});
        let guest = Agent::join_with(&self.stack.bridge.url(), &body).await?;
        self.stack.keep_secret(&guest.token);
        let said = guest.say_here("nobody else may read this").await?;
        let arguments = json!({"roomId": room.id, "wake": "all", "settleSeconds": 0});
        let heard = self.ask("wait_for_messages", arguments).await?;
        ensure!(event_ids(&heard) == [said.as_str()], "{heard}");
        let answer = json!({"text": "nor this", "roomId": room.id, "mentionsEveryone": true});
        let sent = self.ask("send_message", answer).await?;
        let read = guest.hear(text(&sent["eventId"])).await?;
        ensure!(read["mentionsMe"] == true && read["conversation"]["text"] == "nor this", "{read}");
        let invite = json!({"roomId": room.number, "accountId": self.ada.user_id});
        assert_eq!(self.ask("invite_person", invite).await?, json!({"schemaVersion": 1, "invited": true}));
        self.ada.join(&room.id).await?;
        let remove = json!({"roomId": room.number, "agentId": guest.agent_id});
        assert_eq!(self.ask("remove_agent", remove).await?, json!({"schemaVersion": 1, "removed": true}));
        Ok(room)
    }

    /// Codes, and two agents that knock.
    async fn at_the_door(&mut self, room: &Room) -> Result<()> {
        let shown = self.ask("room_access", json!({"roomId": room.id})).await?;
        ensure!(shown["code"] == json!({"state": "visible", "code": room.code}), "the code is another");
        ensure!(shown["knocks"] == json!([]), "somebody knocks");
        let off = self.ask("room_access", json!({"roomId": room.id, "action": "disable"})).await?;
        assert_eq!(off["code"], json!({"state": "missing"}));
        for (name, admit) in [("Friend", true), ("Stranger", false)] {
            let body = json!({"name": name, "room": room.number});
            let knocker = Agent::ask_to_join(&self.stack.bridge.url(), &body).await?.expect(201)?;
            self.stack.keep_secret(text(&knocker["token"]));
            let woken = self.ask("wait_for_messages", json!({"waitSeconds": 30})).await?;
            ensure!(woken["incomingKnocks"][0]["agentId"] == knocker["agentId"], "{woken}");
            let answer = json!({"roomId": room.number, "agentId": knocker["agentId"], "admit": admit});
            let answered = self.ask("answer_knock", answer).await?;
            ensure!(
                answered["agent"]["agentId"] == knocker["agentId"] || answered["declined"] == true,
                "{answered}"
            );
        }
        let again = self.ask("enter_room", json!({"room": room.number})).await?;
        assert_eq!(again["room"]["matrixRoomId"], room.id, "who is inside is let in");
        Ok(())
    }
}

struct Room {
    id: String,
    number: String,
    code: String,
}

impl Room {
    fn of(made: &Value) -> Result<Self> {
        let part = |v: &Value| v.as_str().map(str::to_owned).with_context(|| format!("not whole: {made}"));
        let (id, number) = (part(&made["room"]["matrixRoomId"])?, part(&made["room"]["catalogId"])?);
        Ok(Self { id, number, code: part(&made["code"]["code"])? })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_conformance_suite() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    println!("{}", conformance(&stack.bridge.url()).await?);
    stack.finish().await
}
