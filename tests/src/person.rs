//! A person with an ordinary Matrix client (Matrix spec v1.16, client-server API).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};
use parlour_synapse::Synapse;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::http::{Answer, client, encode};
use crate::time::Deadline;

/// How long an event may take to a person's client on two busy cores.
const SEE: u64 = 60;

static TXN: AtomicU64 = AtomicU64::new(0);

/// What the client has synchronised so far.
#[derive(Default)]
struct Synced {
    since: Option<String>,
    /// Timeline events with their `room_id`, in the order they came.
    events: Vec<Value>,
}

/// Somebody with an account, logged in. Clones are the same device.
#[derive(Clone)]
pub struct Person {
    http: Client,
    base: String,
    token: String,
    pub user_id: String,
    synced: Arc<Mutex<Synced>>,
}

impl Person {
    /// Makes an account and logs it in. Blocks for a moment.
    ///
    /// # Errors
    /// Synapse refuses.
    pub fn register(synapse: &Synapse, localpart: &str) -> Result<Self> {
        let user = tokio::task::block_in_place(|| synapse.register_user(localpart, "correct horse battery"))?;
        Self::of_session(synapse, &user.user_id, &user.access_token)
    }

    /// A session that was begun elsewhere.
    ///
    /// # Errors
    /// There is no HTTP client.
    pub fn of_session(synapse: &Synapse, user_id: &str, access_token: &str) -> Result<Self> {
        let base = format!("{}/_matrix/client/v3", synapse.url());
        let (token, user_id) = (access_token.to_owned(), user_id.to_owned());
        Ok(Self { http: client()?, base, token, user_id, synced: Arc::default() })
    }

    /// Ends the session, and with it the device.
    ///
    /// # Errors
    /// Synapse refuses.
    pub async fn log_out(&self) -> Result<()> {
        self.call(Method::POST, "/logout", Some(&json!({}))).await?.expect(200).map(drop)
    }

    /// Any call; `path` follows `/_matrix/client/v3`.
    ///
    /// # Errors
    /// Synapse does not answer.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer> {
        let mut request = self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        Answer::of(request).await
    }

    async fn get(&self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, None).await?.expect(200)
    }

    /// Joins by room id or alias; gives the room id.
    ///
    /// # Errors
    /// Synapse refuses.
    pub async fn join(&self, room: &str) -> Result<String> {
        let path = format!("/join/{}", encode(room));
        let body = self.call(Method::POST, &path, Some(&json!({}))).await?.expect(200)?;
        Ok(body["room_id"].as_str().context("no room_id")?.to_owned())
    }

    /// Makes a room; gives its id.
    ///
    /// # Errors
    /// Synapse refuses.
    pub async fn create_room(&self, body: &Value) -> Result<String> {
        let body = self.call(Method::POST, "/createRoom", Some(body)).await?.expect(200)?;
        Ok(body["room_id"].as_str().context("no room_id")?.to_owned())
    }

    /// Sends an event under a transaction id of its own; gives the event id.
    ///
    /// # Errors
    /// Synapse refuses or does not answer.
    pub async fn send(&self, room: &str, event_type: &str, content: &Value) -> Result<String> {
        self.send_as(room, event_type, &Self::fresh_txn(), content).await
    }

    /// Sends under this transaction id: the same one again is the same event.
    ///
    /// # Errors
    /// Synapse refuses or does not answer.
    pub async fn send_as(&self, room: &str, event_type: &str, txn: &str, content: &Value) -> Result<String> {
        let path = format!("/rooms/{}/send/{event_type}/{txn}", encode(room));
        let body = self.call(Method::PUT, &path, Some(content)).await?.expect(200)?;
        Ok(body["event_id"].as_str().context("no event_id")?.to_owned())
    }

    /// Tries again with the same transaction id until Synapse takes it, as clients do; gives the event id.
    ///
    /// # Errors
    /// It does not within so many seconds.
    pub async fn say_stubbornly(&self, room: &str, text: &str, seconds: u64) -> Result<String> {
        let (txn, content) = (Self::fresh_txn(), text_content(text));
        let deadline = Deadline::after(seconds);
        loop {
            if let Ok(event_id) = self.send_as(room, "m.room.message", &txn, &content).await {
                return Ok(event_id);
            }
            deadline.check("Synapse to take a message")?;
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }

    fn fresh_txn() -> String {
        format!("t{}.{}", std::process::id(), TXN.fetch_add(1, Ordering::Relaxed))
    }

    /// Sends an `m.room.message`.
    ///
    /// # Errors
    /// Synapse refuses or does not answer.
    pub async fn message(&self, room: &str, content: &Value) -> Result<String> {
        self.send(room, "m.room.message", content).await
    }

    /// Says something that mentions nobody.
    ///
    /// # Errors
    /// Synapse refuses or does not answer.
    pub async fn say(&self, room: &str, text: &str) -> Result<String> {
        self.message(room, &text_content(text)).await
    }

    /// Replaces the text of a message.
    ///
    /// # Errors
    /// Synapse refuses or does not answer.
    pub async fn edit(&self, room: &str, event_id: &str, text: &str) -> Result<String> {
        let mut content = text_content(&format!("* {text}"));
        content["m.new_content"] = text_content(text);
        content["m.relates_to"] = json!({"rel_type": "m.replace", "event_id": event_id});
        self.message(room, &content).await
    }

    /// # Errors
    /// Synapse refuses.
    pub async fn redact(&self, room: &str, event_id: &str) -> Result<()> {
        let path = format!("/rooms/{}/redact/{}/{}", encode(room), encode(event_id), Self::fresh_txn());
        self.call(Method::PUT, &path, Some(&json!({}))).await?.expect(200).map(drop)
    }

    /// Shows that the person writes, or has stopped.
    ///
    /// # Errors
    /// Synapse refuses.
    pub async fn typing(&self, room: &str, typing: bool) -> Result<()> {
        let path = format!("/rooms/{}/typing/{}", encode(room), encode(&self.user_id));
        let body = if typing { json!({"typing": true, "timeout": 60_000}) } else { json!({"typing": false}) };
        self.call(Method::PUT, &path, Some(&body)).await?.expect(200).map(drop)
    }

    /// The room id under an alias of this server.
    ///
    /// # Errors
    /// There is none.
    pub async fn resolve(&self, alias: &str) -> Result<String> {
        let body = self.get(&format!("/directory/room/{}", encode(alias))).await?;
        Ok(body["room_id"].as_str().context("no room_id")?.to_owned())
    }

    /// A state event's content; null where there is none.
    ///
    /// # Errors
    /// Synapse does not answer.
    pub async fn state(&self, room: &str, event_type: &str) -> Result<Value> {
        let path = format!("/rooms/{}/state/{event_type}/", encode(room));
        let answer = self.call(Method::GET, &path, None).await?;
        Ok(if answer.status == 404 { Value::Null } else { answer.expect(200)? })
    }

    /// The Matrix id of the member that is shown under this name.
    ///
    /// # Errors
    /// Nobody has it.
    pub async fn member_named(&self, room: &str, name: &str) -> Result<String> {
        let body = self.get(&format!("/rooms/{}/joined_members", encode(room))).await?;
        let members = body["joined"].as_object().context("no joined")?;
        let found = members.iter().find(|(_, m)| m["display_name"] == name);
        found.map(|(id, _)| id.clone()).with_context(|| format!("nobody is shown as {name}: {body}"))
    }

    /// The first event, seen already or yet to come, that `wanted` says yes to.
    ///
    /// # Errors
    /// None comes within a minute.
    pub async fn see(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let deadline = Deadline::after(SEE);
        let mut synced = self.synced.lock().await;
        loop {
            if let Some(event) = synced.events.iter().find(|e| wanted(e)) {
                return Ok(event.clone());
            }
            if deadline.check(what).is_err() {
                bail!("{} did not see {what}; the newest: {:?}", self.user_id, synced.events.last());
            }
            self.sync(&mut synced).await?;
        }
    }

    /// The event with this id.
    ///
    /// # Errors
    /// It does not come within a minute.
    pub async fn see_event(&self, event_id: &str) -> Result<Value> {
        self.see(event_id, |event| event["event_id"] == event_id).await
    }

    async fn sync(&self, synced: &mut Synced) -> Result<()> {
        let filter = encode(r#"{"room":{"timeline":{"limit":1000}},"presence":{"types":[]}}"#);
        let since = synced.since.as_ref().map(|s| format!("&timeout=5000&since={}", encode(s)));
        let body = self.get(&format!("/sync?filter={filter}{}", since.unwrap_or_default())).await?;
        synced.since = body["next_batch"].as_str().map(str::to_owned);
        for (room, joined) in body["rooms"]["join"].as_object().into_iter().flatten() {
            for event in joined["timeline"]["events"].as_array().into_iter().flatten() {
                let mut event = event.clone();
                event["room_id"] = json!(room);
                synced.events.push(event);
            }
        }
        Ok(())
    }

    /// The whole room by Synapse's own account, oldest first.
    ///
    /// # Errors
    /// Synapse refuses.
    pub async fn timeline(&self, room: &str) -> Result<Vec<Value>> {
        let (mut events, mut from) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("/rooms/{}/messages?dir=b&limit=1000{from}", encode(room))).await?;
            events.extend(page["chunk"].as_array().into_iter().flatten().cloned());
            match page["end"].as_str() {
                Some(end) => from = format!("&from={}", encode(end)),
                None => break,
            }
        }
        events.reverse();
        Ok(events)
    }
}

fn text_content(text: &str) -> Value {
    json!({"msgtype": "m.text", "body": text, "m.mentions": {}})
}
