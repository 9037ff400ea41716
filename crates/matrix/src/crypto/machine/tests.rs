//! Machines against each other over a homeserver in memory.

mod history;
mod homeserver;
mod identity;
mod rooms;
mod trouble;

use std::sync::Arc;

use parlour_domain::visibility::Visibility;
use ruma::{OwnedUserId, RoomId, room_id, user_id};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use self::homeserver::Homeserver;
use super::*;
use crate::crypto::{DeviceNews, Outgoing, testing::MemoryRows};

const SENT_AT: i64 = 1_700_000_000_000;

/// The SDK looks at the real clock, so a device made long ago would renew its fallback key at once.
fn now_ms() -> i64 {
    ruma::MilliSecondsSinceUnixEpoch::now().get().into()
}

fn room() -> &'static RoomId {
    room_id!("!r:x")
}

fn sharing() -> Sharing {
    Sharing {
        visibility: Visibility::Shared,
        trust: Trust::All,
        rotation_period_ms: None,
        rotation_messages: None,
    }
}

fn key() -> SealingKey {
    SealingKey::new(&[9; 32])
}

/// Everybody of a test, and where their state lies.
#[derive(Default)]
struct World {
    server: Homeserver,
    rows: MemoryRows,
    accounts: i64,
}

impl World {
    fn device(&mut self, user: &str, device: &str) -> DeviceAccount {
        self.accounts += 1;
        let user_id = OwnedUserId::try_from(user).unwrap();
        DeviceAccount { account: self.accounts, user_id, device_id: device.into() }
    }

    fn rows(&self) -> Arc<MemoryRows> {
        Arc::new(self.rows.clone())
    }

    async fn create(&mut self, user: &str, device: &str) -> Machine {
        let device = self.device(user, device);
        let mut machine = Machine::create(device, self.rows(), key(), now_ms()).await.unwrap();
        self.commit(&mut machine);
        machine
    }

    /// A device that is signed by its owner.
    async fn signed(&mut self, user: &str, device: &str) -> Machine {
        let mut machine = self.create(user, device).await;
        let setup = machine.setup().await.unwrap();
        self.carry(&mut machine, setup).await;
        self.settle(&mut machine).await;
        machine
    }

    /// A device whose owner has no cross-signing.
    async fn unsigned(&mut self, user: &str, device: &str) -> Machine {
        let mut machine = self.create(user, device).await;
        self.settle(&mut machine).await;
        machine
    }

    fn commit(&self, machine: &mut Machine) {
        let writes = machine.take_writes();
        self.rows.write(&writes);
        machine.committed(writes.ticket());
        assert!(machine.is_idle());
    }

    async fn carry(&mut self, machine: &mut Machine, requests: Vec<Outgoing>) {
        self.commit(machine);
        for request in requests {
            let answer = self.server.carry(machine, &request.call);
            machine.answer(&request, &answer).await.unwrap();
            self.commit(machine);
        }
    }

    /// Carries what a machine wants sent until it wants nothing more.
    async fn settle(&mut self, machine: &mut Machine) {
        for _ in 0..5 {
            let requests = machine.outgoing().await.unwrap();
            if requests.is_empty() {
                return;
            }
            self.carry(machine, requests).await;
        }
        panic!("{machine:?} always wants more");
    }

    async fn prepare(&mut self, machine: &mut Machine, members: &[&str]) {
        self.prepare_as(machine, members, sharing()).await;
    }

    async fn prepare_as(&mut self, machine: &mut Machine, members: &[&str], sharing: Sharing) {
        let mut way = preparation(members, sharing);
        for _ in 0..6 {
            let requests = machine.prepare(&mut way).await.unwrap();
            if requests.is_empty() {
                self.commit(machine);
                return;
            }
            self.carry(machine, requests).await;
        }
        panic!("the room never gets ready");
    }

    /// A person's client shares its room key with a puppet.
    async fn share_with(&mut self, person: &mut Machine, puppet: &Machine) {
        let mut way = Preparation::new(room(), [puppet.user_id().to_owned()], |_| false, sharing());
        for _ in 0..6 {
            let requests = person.prepare(&mut way).await.unwrap();
            self.carry(person, requests).await;
        }
        assert!(person.is_prepared(room()));
    }

    async fn receive(&mut self, machine: &mut Machine) -> Received {
        let news = self.server.news(machine);
        let received = machine.receive(news).await.unwrap();
        self.commit(machine);
        self.settle(machine).await;
        received
    }

    async fn say(&mut self, machine: &mut Machine, text: &str) -> Box<RawValue> {
        let content = to_raw_value(&json!({"msgtype": "m.text", "body": text})).unwrap();
        let sealed = machine.encrypt(room(), "m.room.message", &content).await.unwrap();
        self.commit(machine);
        event(machine.user_id(), &sealed)
    }

    /// Closes the machine and opens it from disk.
    async fn reopen(&self, machine: Machine) -> Machine {
        assert!(machine.is_idle());
        let device = machine.device.clone();
        drop(machine);
        Machine::open(device, self.rows(), key(), None).await.unwrap()
    }
}

fn preparation(members: &[&str], sharing: Sharing) -> Preparation {
    let members = members.iter().map(|user| OwnedUserId::try_from(*user).unwrap());
    Preparation::new(room(), members, |user| user.localpart().starts_with("agent_"), sharing)
}

/// As it comes back from the homeserver.
fn event(sender: &UserId, content: &RawValue) -> Box<RawValue> {
    let event = json!({"type": "m.room.encrypted", "event_id": "$e", "room_id": room(), "sender": sender,
        "origin_server_ts": SENT_AT, "content": content});
    to_raw_value(&event).unwrap()
}

fn body(decrypted: &Decrypted) -> String {
    let event: Value = serde_json::from_str(decrypted.event.get()).unwrap();
    assert_eq!(event["type"], "m.room.message");
    event["content"]["body"].as_str().unwrap().to_owned()
}

/// Work with machines runs on any thread of the runtime.
#[tokio::test]
async fn machines_and_their_work_may_change_threads() {
    fn sendable<T: Send>(_: &T) {}
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    sendable(&ada);
    sendable(&ada.receive(DeviceNews::default()));
    sendable(&ada.outgoing());
    sendable(&ada.setup());
    sendable(&ada.adopt(&[]));
    let mut way = preparation(&["@pat:x"], sharing());
    sendable(&ada.prepare(&mut way));
    let content = to_raw_value(&json!({})).unwrap();
    sendable(&ada.encrypt(room(), "m.room.message", &content));
    sendable(&ada.decrypt(&content, room()));
    sendable(&ada.import_bundle(room(), user_id!("@pat:x"), vec![]));
    let query = ada.query(user_id!("@pat:x"));
    sendable(&ada.answer(&query, &content));
    sendable(&Machine::open(ada.device.clone(), world.rows(), key(), None));
}
