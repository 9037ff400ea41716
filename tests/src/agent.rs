//! An agent, as far as the bridge can tell.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use parking_lot::Mutex;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::http::{Answer, client, encode};
use crate::time::{Deadline, fresh_uuid, until};

/// How long a message may take from Synapse into an inbox on two busy cores.
const HEAR: u64 = 60;

/// An agent that has joined. Clones are the same agent.
#[derive(Clone)]
pub struct Agent {
    http: Client,
    base: String,
    pub token: String,
    pub agent_id: String,
    pub display_name: String,
    /// The room that it joined into.
    pub room: String,
    heard: Arc<Mutex<Vec<Value>>>,
    /// All gaps that it was told of by [`listen`](Self::listen).
    gaps: Arc<Mutex<Vec<Value>>>,
}

impl Agent {
    /// `POST /v1/network-agents`, whatever comes of it.
    ///
    /// # Errors
    /// The bridge does not answer.
    pub async fn ask_to_join(bridge: &str, body: &Value) -> Result<Answer> {
        Answer::of(client()?.post(format!("{bridge}/v1/network-agents")).json(body)).await
    }

    /// Joins a lobby, the default one where none is named.
    ///
    /// # Errors
    /// The bridge refuses, or its answer lacks something.
    pub async fn join(bridge: &str, name: &str, room: Option<&str>) -> Result<Self> {
        let body = room.map_or(json!({"name": name}), |room| json!({"name": name, "room": room}));
        Self::join_with(bridge, &body).await
    }

    /// Joins with this body, which has to let it into a room at once.
    ///
    /// # Errors
    /// The bridge refuses, or its answer lacks something.
    pub async fn join_with(bridge: &str, body: &Value) -> Result<Self> {
        let body = Self::ask_to_join(bridge, body).await?.expect(201)?;
        let text = |value: &Value, name: &str| {
            value.as_str().map(str::to_owned).with_context(|| format!("the answer to a join has no {name}"))
        };
        Ok(Self {
            http: client()?,
            base: format!("{bridge}/v1/network-agents"),
            token: text(&body["token"], "token")?,
            agent_id: text(&body["agentId"], "agentId")?,
            display_name: text(&body["displayName"], "displayName")?,
            room: text(&body["room"]["matrixRoomId"], "room.matrixRoomId")?,
            heard: Arc::default(),
            gaps: Arc::default(),
        })
    }

    /// An agent of which only the token is known.
    ///
    /// # Errors
    /// There is no HTTP client.
    pub fn known(bridge: &str, token: &str) -> Result<Self> {
        Ok(Self {
            http: client()?,
            base: format!("{bridge}/v1/network-agents"),
            token: token.to_owned(),
            agent_id: String::new(),
            display_name: String::new(),
            room: String::new(),
            heard: Arc::default(),
            gaps: Arc::default(),
        })
    }

    /// Any call with the token; `path` follows `/v1/network-agents`.
    ///
    /// # Errors
    /// The bridge does not answer.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer> {
        let mut request = self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        Answer::of(request).await
    }

    /// # Errors
    /// The bridge does not answer.
    pub async fn get(&self, path: &str) -> Result<Answer> {
        self.call(Method::GET, path, None).await
    }

    /// `GET /me/messages` with this query.
    ///
    /// # Errors
    /// The bridge does not answer.
    pub async fn wait(&self, query: &str) -> Result<Answer> {
        self.get(&format!("/me/messages?{query}")).await
    }

    /// `POST /me/messages`.
    ///
    /// # Errors
    /// The bridge does not answer.
    pub async fn send(&self, body: &Value) -> Result<Answer> {
        self.call(Method::POST, "/me/messages", Some(body)).await
    }

    /// Says something; gives `{submissionId, roomId, eventId, status}`.
    ///
    /// # Errors
    /// It is not sent at once.
    pub async fn say(&self, text: &str) -> Result<Value> {
        self.send(&json!({"text": text})).await?.expect(201)
    }

    /// The same agent with another of its rooms as [`room`](Self::room).
    #[must_use]
    pub fn turned_to(&self, room: &str) -> Self {
        Self { room: room.to_owned(), ..self.clone() }
    }

    /// Says something in [`room`](Self::room), for an agent that is in several; gives the event id.
    ///
    /// # Errors
    /// It is not sent within a minute.
    pub async fn say_here(&self, text: &str) -> Result<String> {
        let body = json!({"text": text, "roomId": self.room, "submissionId": fresh_uuid()});
        self.send_until_sent(&body, HEAR).await
    }

    /// Asks with the same submission again until it is sent; gives its event id.
    ///
    /// # Errors
    /// It is refused for good, or still not sent after so many seconds.
    pub async fn send_until_sent(&self, body: &Value, seconds: u64) -> Result<String> {
        let deadline = Deadline::after(seconds);
        loop {
            match self.send(body).await {
                Ok(answer) if answer.status == 201 => {
                    let event_id = answer.body["eventId"].as_str().context("sent without an eventId")?;
                    return Ok(event_id.to_owned());
                }
                Ok(answer) if ![202, 503].contains(&answer.status) => {
                    answer.expect(201)?;
                }
                // No answer: the bridge is down just now.
                _ => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            }
            deadline.check("a submission to be sent")?;
        }
    }

    /// `POST /me/ack`; gives `{acknowledged, pending}`.
    ///
    /// # Errors
    /// The bridge refuses.
    pub async fn ack(&self, event_id: &str) -> Result<Value> {
        let body = json!({"eventId": event_id});
        self.call(Method::POST, "/me/ack", Some(&body)).await?.expect(200)
    }

    /// One wait for everything; what came is acknowledged and remembered.
    ///
    /// # Errors
    /// The bridge refuses, or something comes a second time.
    pub async fn listen(&self) -> Result<Vec<Value>> {
        let body = self.wait("wait=10&wake=all&settle=0&limit=50").await?.expect(200)?;
        let messages = body["messages"].as_array().context("no messages")?.clone();
        if let Some(last) = event_ids(&body).last() {
            let acked = self.ack(last).await?;
            ensure!(acked["acknowledged"] == true, "what was handed over cannot be acknowledged: {acked}");
        }
        self.gaps.lock().extend(body["gaps"].as_array().into_iter().flatten().cloned());
        let mut heard = self.heard.lock();
        for message in &messages {
            let twice = heard.iter().any(|m| m["eventId"] == message["eventId"]);
            ensure!(!twice, "came again after it was acknowledged: {message}");
        }
        heard.extend(messages.iter().cloned());
        Ok(messages)
    }

    /// Listens until this event comes, unless it has come before.
    ///
    /// # Errors
    /// It does not come within a minute.
    pub async fn hear(&self, event_id: &str) -> Result<Value> {
        self.hear_within(event_id, HEAR).await
    }

    /// As [`hear`](Self::hear), with so many seconds of patience.
    ///
    /// # Errors
    /// It does not come in time.
    pub async fn hear_within(&self, event_id: &str, seconds: u64) -> Result<Value> {
        let deadline = Deadline::after(seconds);
        loop {
            let found = self.heard.lock().iter().find(|m| m["eventId"] == event_id).cloned();
            if let Some(message) = found {
                return Ok(message);
            }
            deadline.check(&format!("{event_id} in the inbox"))?;
            self.listen().await?;
        }
    }

    /// Everything that [`listen`](Self::listen) and [`hear`](Self::hear) got, in order.
    pub fn heard(&self) -> Vec<Value> {
        self.heard.lock().clone()
    }

    /// Every gap that [`listen`](Self::listen) and [`hear`](Self::hear) were told of.
    pub fn gaps(&self) -> Vec<Value> {
        self.gaps.lock().clone()
    }

    /// Begins to listen anew: a bridge that was put back to an earlier state may hand over again what was heard since.
    pub fn forget_heard(&self) {
        self.heard.lock().clear();
    }

    /// Counts what an answer of [`wait`](Self::wait) gave as heard.
    pub fn remember(&self, body: &Value) {
        self.heard.lock().extend(body["messages"].as_array().into_iter().flatten().cloned());
    }

    /// Full texts by event or message id, as `{messages, missing}`.
    ///
    /// # Errors
    /// The bridge refuses.
    pub async fn look_up(&self, ids: &[&str]) -> Result<Value> {
        self.get(&format!("/me/messages/lookup?ids={}", encode(&ids.join(",")))).await?.expect(200)
    }

    /// Waits until this is among its rooms; gives what it is told of it.
    ///
    /// # Errors
    /// It is not within a minute.
    pub async fn until_in(&self, room: &str) -> Result<Value> {
        until("a room among the agent's", HEAR, async || {
            Ok(self.rooms().await?.into_iter().find(|r| r["matrixRoomId"] == room))
        })
        .await
    }

    /// Waits until this is not among its rooms any more.
    ///
    /// # Errors
    /// It still is after a minute.
    pub async fn until_out(&self, room: &str) -> Result<()> {
        until("the room to be gone from the agent's", HEAR, async || {
            let gone = self.rooms().await?.iter().all(|r| r["matrixRoomId"] != room);
            Ok(gone.then_some(()))
        })
        .await
    }

    async fn rooms(&self) -> Result<Vec<Value>> {
        let me = self.get("/me").await?.expect(200)?;
        me["rooms"].as_array().cloned().context("no rooms")
    }

    /// A page of its room's history.
    ///
    /// # Errors
    /// The bridge refuses.
    pub async fn history(&self, query: &str) -> Result<Value> {
        self.get(&format!("/me/rooms/{}/messages?{query}", encode(&self.room))).await?.expect(200)
    }

    /// Takes and acknowledges the context that the first wait gives.
    ///
    /// # Errors
    /// The bridge refuses.
    pub async fn settle_in(&self) -> Result<()> {
        let body = self.wait("wait=0&limit=50").await?.expect(200)?;
        match event_ids(&body).last() {
            Some(last) => self.ack(last).await.map(drop),
            None => Ok(()),
        }
    }
}

/// The event ids of an answer with `messages`, in order.
pub fn event_ids(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.filter_map(|m| m["eventId"].as_str().map(str::to_owned)).collect()
}
