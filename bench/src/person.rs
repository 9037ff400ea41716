//! A person with keys: a floor user whose device encrypts and decrypts as a client's would, so that what the bridge does
//! in encrypted rooms is measured against real ciphertexts.
use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail};
use parlour_domain::visibility::Visibility;
use parlour_matrix::{
    AsDevice, BoxFuture, Client,
    crypto::{
        DeviceAccount, Machine, Outgoing, Preparation, Row, Rows, RowsError, SealingKey, Sharing, Trust,
    },
};
use reqwest::Method;
use ruma::{DeviceId, OwnedRoomId, OwnedUserId};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{
    clock::unix_ms,
    homeserver::{Homeserver, encode},
};

pub(crate) const DEVICE: &str = "BENCHPERSON";
/// Rounds of requests until everybody has the key; more would mean that it never ends.
const ROUNDS: usize = 50;

/// Nothing is ever on disk: what a machine has to remember stays in its buffer.
#[derive(Debug)]
struct NoRows;

impl Rows for NoRows {
    fn get<'a>(&'a self, _: i64, _: u8, _: &'a [u8]) -> BoxFuture<'a, Result<Option<Vec<u8>>, RowsError>> {
        Box::pin(async { Ok(None) })
    }

    fn scan<'a>(&'a self, _: i64, _: u8, _: &'a [u8]) -> BoxFuture<'a, Result<Vec<Row>, RowsError>> {
        Box::pin(async { Ok(vec![]) })
    }
}

pub(crate) struct Person {
    pub(crate) user: String,
    machine: Machine,
    client: Client,
    since: Option<String>,
}

impl Person {
    /// Registers, makes a device, and signs it.
    pub(crate) async fn new(hs: &Homeserver, name: &str) -> Result<Self> {
        let user = hs.register(name).await?;
        let (user_id, device_id) = (OwnedUserId::try_from(user.as_str())?, DEVICE.into());
        let client = hs.client()?;
        client.put_device(&user_id, <&DeviceId>::from(DEVICE), "Bench").await?;
        let account = DeviceAccount { account: 1, user_id, device_id };
        let now = i64::try_from(unix_ms())?;
        let machine = Machine::create(account, Arc::new(NoRows), SealingKey::new(&[1; 32]), now).await?;
        let mut person = Self { user, machine, client, since: None };
        let setup = person.machine.setup().await?;
        person.carry(setup).await?;
        person.settle().await?;
        Ok(person)
    }

    fn who(&self) -> AsDevice<'_> {
        AsDevice { user: self.machine.user_id(), device: self.machine.device_id(), token: None }
    }

    async fn carry(&mut self, requests: Vec<Outgoing>) -> Result<()> {
        for request in requests {
            let answer = self.client.carry(self.who(), &request.call).await?;
            self.machine.answer(&request, &answer).await?;
        }
        Ok(())
    }

    async fn settle(&mut self) -> Result<()> {
        for _ in 0..ROUNDS {
            let requests = self.machine.outgoing().await?;
            if requests.is_empty() {
                return Ok(());
            }
            self.carry(requests).await?;
        }
        bail!("the person's device always wants more");
    }

    /// Shares a new room key with everybody who is in the room.
    pub(crate) async fn share(&mut self, hs: &Homeserver, room: &str) -> Result<()> {
        let path = format!("/rooms/{}/joined_members", encode(room));
        let members = hs.call(Method::GET, &path, &self.user, None).await?;
        let members = members["joined"].as_object().context("a room without members")?.keys();
        let members =
            members.map(|user| OwnedUserId::try_from(user.as_str())).collect::<Result<Vec<_>, _>>()?;
        let sharing = Sharing {
            visibility: Visibility::Invited,
            trust: Trust::All,
            rotation_period_ms: None,
            rotation_messages: Some(1_000_000),
        };
        let room = OwnedRoomId::try_from(room)?;
        self.machine.recheck_people().await?;
        let mut way = Preparation::new(&room, members, |_| false, sharing);
        for _ in 0..ROUNDS {
            let requests = self.machine.prepare(&mut way).await?;
            if requests.is_empty() {
                return Ok(());
            }
            self.carry(requests).await?;
        }
        bail!("the room key is never shared with everybody");
    }

    /// The content of an encrypted message. The marker stands outside as well, for the floor, which has no keys.
    pub(crate) async fn seal(&mut self, room: &str, marker: &str) -> Result<Value> {
        let content = to_raw_value(&json!({"msgtype": "m.text", "body": marker, "m.mentions": {}}))?;
        let room = OwnedRoomId::try_from(room)?;
        let sealed = self.machine.encrypt(&room, "m.room.message", &content).await?;
        let mut sealed: Value = serde_json::from_str(sealed.get())?;
        sealed["body"] = json!(marker);
        Ok(sealed)
    }

    /// The text of an event, as this person's client would show it, once its key is there.
    pub(crate) async fn reads(&mut self, room: &str, event_id: &str) -> Result<String> {
        let room = OwnedRoomId::try_from(room)?;
        let event_id = ruma::OwnedEventId::try_from(event_id)?;
        let event = self.client.event(self.machine.user_id(), &room, &event_id).await?;
        let event = event.context("the person cannot see the event")?;
        for _ in 0..ROUNDS {
            if let Ok(decrypted) = self.machine.decrypt(&event, &room).await {
                return text(&decrypted.event);
            }
            self.pull().await?;
        }
        bail!("the person cannot read what an agent said");
    }

    async fn pull(&mut self) -> Result<()> {
        let pulled = self.client.pull(self.who(), self.since.as_deref()).await?;
        self.machine.receive(pulled.news).await?;
        self.since = Some(pulled.next_batch);
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(())
    }
}

fn text(event: &RawValue) -> Result<String> {
    let event: Value = serde_json::from_str(event.get())?;
    Ok(event["content"]["body"].as_str().context("a message without a text")?.to_owned())
}
