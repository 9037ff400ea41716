//! As much of a bridge as encryption needs: machines over a real store, carried by the real client.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use parlour_app::crypto_rows::{CryptoBatch, CryptoRows};
use parlour_domain::visibility::Visibility;
use parlour_matrix::{
    AsDevice, BoxFuture, Client, CreateRoom, Inbound, Registration, Transaction, TransactionError, Wanted,
    crypto::{
        Decrypted, DeviceAccount, Machine, Outgoing, Parcels, Preparation, Received, SealingKey, Sharing,
        Trust,
    },
    router,
};
use parlour_store::{DeviceState, Store};
use parlour_synapse::{Config, Synapse, install, shared_venv};
use ruma::{OwnedEventId, OwnedRoomId, OwnedUserId, RoomId, UserId};
use secrecy::SecretString;
use serde_json::{Value, json, value::to_raw_value};
use tempfile::TempDir;
use tokio::sync::Notify;

pub(crate) const MEGOLM: &str = "m.megolm.v1.aes-sha2";
const DEADLINE: Duration = Duration::from_secs(30);

/// The homeserver, what it pushes, and our store.
pub(crate) struct Bridge {
    folder: TempDir,
    pub(crate) synapse: Arc<Synapse>,
    pub(crate) client: Client,
    pub(crate) pushed: Arc<Pushed>,
    pub(crate) store: Store,
}

/// A puppet with its machine.
pub(crate) struct Puppet {
    pub(crate) machine: Machine,
    token: Option<SecretString>,
}

/// Transactions as they came.
#[derive(Default)]
pub(crate) struct Pushed {
    transactions: Mutex<Vec<Transaction>>,
    news: Notify,
}

impl Inbound for Pushed {
    fn transaction(&self, _: String, body: bytes::Bytes) -> BoxFuture<'_, Result<(), TransactionError>> {
        Box::pin(async move {
            let transaction = Transaction::parse(&body).map_err(|_| TransactionError::NotJson)?;
            self.transactions.lock().unwrap().push(transaction);
            self.news.notify_waiters();
            Ok(())
        })
    }

    fn pinged(&self, _: Option<String>) {}

    fn knows_user(&self, _: &UserId) -> bool {
        false
    }

    fn knows_alias(&self, _: &ruma::RoomAliasId) -> bool {
        false
    }
}

impl Pushed {
    /// Waits until what was pushed so far holds what is looked for.
    pub(crate) async fn until<T>(&self, mut found: impl FnMut(&[Transaction]) -> Option<T>) -> T {
        let wait = async {
            loop {
                let notified = self.news.notified();
                tokio::pin!(notified);
                notified.as_mut().enable();
                if let Some(found) = found(&self.transactions.lock().unwrap()) {
                    return found;
                }
                notified.await;
            }
        };
        tokio::time::timeout(DEADLINE, wait).await.expect("it is pushed in time")
    }
}

fn sealing() -> SealingKey {
    SealingKey::new(&[3; 32])
}

impl Bridge {
    /// `msc4190`: whether puppets get devices without a login.
    pub(crate) async fn start(msc4190: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pushed = Arc::<Pushed>::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let wanted = Wanted {
            bridge_id: "parlour".into(),
            appservice_url: format!("http://{}", listener.local_addr().unwrap()),
            server_name: "hs.test".into(),
            puppet_prefix: "agent_".into(),
            bot: "parlour".into(),
            lobby_aliases: vec![],
        };
        let tokens = ["as-token".to_owned(), "hs-token".to_owned()];
        let registration = Registration { msc4190, ..Registration::generate(&wanted, tokens) };
        let path = folder.path().join("registration.yaml");
        std::fs::write(&path, registration.to_yaml()).unwrap();
        let routes = router(pushed.clone(), registration.hs_token);
        #[allow(clippy::disallowed_methods, reason = "a task of a test, which ends with it")]
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let synapse = start_synapse(folder.path(), path).await;
        let client = Client::new(synapse.url(), "as-token".to_owned().into()).unwrap();
        let store = Store::open(&folder.path().join("store")).unwrap();
        Self { folder, synapse: Arc::new(synapse), client, pushed, store }
    }

    /// Closes the store and opens it again, as after a restart.
    pub(crate) fn reopen_store(self) -> Self {
        self.store.close();
        let Self { folder, synapse, client, pushed, store } = self;
        drop(store);
        let store = Store::open(&folder.path().join("store")).unwrap();
        Self { folder, synapse, client, pushed, store }
    }

    pub(crate) async fn register(&self, localpart: &str) -> OwnedUserId {
        self.client.register(localpart).await.unwrap();
        format!("@{localpart}:hs.test").try_into().unwrap()
    }

    async fn account(&self, user: &UserId, device: &str) -> DeviceAccount {
        let (user_id, device_id) = (user.to_owned(), ruma::OwnedDeviceId::from(device));
        let (user, device) = (user_id.clone(), device_id.clone());
        let account = self.store.write(move |tx| tx.add_device(&user, &device, 1)).await.unwrap();
        DeviceAccount { account, user_id, device_id }
    }

    pub(crate) async fn create(&self, user: &UserId, device: &str) -> Machine {
        let account = self.account(user, device).await;
        let rows = Arc::new(CryptoRows::new(self.store.clone()));
        let now = ruma::MilliSecondsSinceUnixEpoch::now().get().into();
        Machine::create(account, rows, sealing(), now).await.unwrap()
    }

    /// A puppet with a device that the appservice makes and acts as.
    pub(crate) async fn puppet(&self, localpart: &str, device: &str) -> Puppet {
        let user = self.register(localpart).await;
        let machine = self.create(&user, device).await;
        self.client.put_device(&user, machine.device_id(), "Agent bridge").await.unwrap();
        self.set_up(Puppet { machine, token: None }).await
    }

    /// A puppet that logs in and keeps a token of its own.
    pub(crate) async fn puppet_with_token(&self, localpart: &str, device: &str) -> Puppet {
        let user = self.register(localpart).await;
        let login = self.client.login_appservice(&user, device.into(), "Agent bridge").await.unwrap();
        assert_eq!(login.device_id, device);
        let machine = self.create(&user, device).await;
        self.set_up(Puppet { machine, token: Some(login.token) }).await
    }

    async fn set_up(&self, mut puppet: Puppet) -> Puppet {
        let setup = puppet.machine.setup().await.unwrap();
        assert_eq!(setup.len(), 3);
        let seeds = puppet.machine.sealed_seeds().await.unwrap();
        let user = puppet.machine.user_id().to_owned();
        self.store.write(move |tx| tx.set_seeds(&user, &seeds)).await.unwrap();
        self.carry(&mut puppet, setup).await;
        self.settle(&mut puppet).await;
        let account = puppet.machine.account();
        self.store.write(move |tx| tx.set_device_state(account, DeviceState::Live)).await.unwrap();
        puppet
    }

    /// Opens a puppet's device from disk.
    pub(crate) async fn open(&self, user: &UserId) -> Puppet {
        let user = user.to_owned();
        let row = self.store.read(move |r| r.device_of(&user)).await.unwrap().unwrap();
        let device = DeviceAccount { account: row.account, user_id: row.user_id, device_id: row.device_id };
        let rows = Arc::new(CryptoRows::new(self.store.clone()));
        Puppet { machine: Machine::open(device, rows, sealing(), None).await.unwrap(), token: None }
    }

    pub(crate) async fn commit(&self, puppet: &mut Puppet) {
        let mut writes = puppet.machine.take_writes();
        let batch = CryptoBatch::of(&mut writes);
        self.store.write(move |tx| batch.put(tx)).await.unwrap();
        puppet.machine.committed(writes.ticket());
    }

    pub(crate) async fn carry(&self, puppet: &mut Puppet, requests: Vec<Outgoing>) {
        self.commit(puppet).await;
        for request in requests {
            let answer = self.client.carry(puppet.who(), &request.call).await.unwrap();
            puppet.machine.answer(&request, &answer).await.unwrap();
        }
        self.commit(puppet).await;
    }

    pub(crate) async fn settle(&self, puppet: &mut Puppet) {
        for _ in 0..5 {
            let requests = puppet.machine.outgoing().await.unwrap();
            if requests.is_empty() {
                return;
            }
            self.carry(puppet, requests).await;
        }
        panic!("{:?} always wants more", puppet.machine);
    }

    /// An encrypted room of the first puppet that the others have joined.
    pub(crate) async fn room(&self, owner: &Puppet, others: &[&UserId]) -> OwnedRoomId {
        let encryption =
            json!({"type": "m.room.encryption", "state_key": "", "content": {"algorithm": MEGOLM}});
        let room = CreateRoom {
            initial_state: vec![encryption],
            invite: others.iter().map(|user| (*user).to_owned()).collect(),
            ..CreateRoom::default()
        };
        let room = self.client.create_room(owner.machine.user_id(), room).await.unwrap();
        for user in others {
            self.client.join(user, (*room).into(), &[]).await.unwrap();
        }
        room
    }

    /// Shares the room key with `reader`, a puppet for once, and says something.
    pub(crate) async fn say(
        &self,
        puppet: &mut Puppet,
        room: &RoomId,
        reader: &UserId,
        text: &str,
    ) -> OwnedEventId {
        let encryption = to_raw_value(&json!({"algorithm": MEGOLM})).unwrap();
        let sharing = Sharing::of_room(&encryption, Visibility::Shared, Trust::CrossSigned).unwrap();
        let mut way = Preparation::new(room, [reader.to_owned()], |_| false, sharing);
        while !puppet.machine.is_prepared(room) {
            let requests = puppet.machine.prepare(&mut way).await.unwrap();
            self.carry(puppet, requests).await;
        }
        let content = to_raw_value(&json!({"msgtype": "m.text", "body": text, "m.mentions": {}})).unwrap();
        let sealed = puppet.machine.encrypt(room, "m.room.message", &content).await.unwrap();
        self.commit(puppet).await;
        let (user, device) = (puppet.machine.user_id(), puppet.machine.device_id());
        let send = self.client.send(user, Some(device), room, "m.room.encrypted", text, &sealed, DEADLINE);
        send.await.unwrap()
    }

    /// Pulls until nothing waits any more, as the store remembers where it was.
    pub(crate) async fn pull(&self, puppet: &mut Puppet) -> Received {
        let mut all = Received::default();
        loop {
            let user = puppet.machine.user_id().to_owned();
            let row = self.store.read(move |r| r.device_of(&user)).await.unwrap().unwrap();
            let pulled = self.client.pull(puppet.who(), row.since.as_deref()).await.unwrap();
            let done = pulled.news.to_device.is_empty() && row.since.is_some();
            let received = puppet.machine.receive(pulled.news).await.unwrap();
            let mut writes = puppet.machine.take_writes();
            let (batch, next) = (CryptoBatch::of(&mut writes), pulled.next_batch);
            let write = self.store.write(move |tx| {
                batch.put(tx)?;
                tx.set_device_since(row.account, &next)
            });
            write.await.unwrap();
            puppet.machine.committed(writes.ticket());
            self.settle(puppet).await;
            all.room_keys.extend(received.room_keys);
            all.unreadable += received.unreadable;
            if done {
                return all;
            }
        }
    }

    /// Takes what was pushed for a puppet once a message for it is among it.
    pub(crate) async fn take_pushed(&self, puppet: &mut Puppet) -> Received {
        let device = (puppet.machine.user_id().to_owned(), puppet.machine.device_id().to_owned());
        let news = self.pushed.until(|all| {
            let mut parcels = all.iter().map(Parcels::of);
            parcels.find(|p| p.receivers().any(|d| *d == device)).map(|mut p| p.take(&device))
        });
        let received = puppet.machine.receive(news.await).await.unwrap();
        self.commit(puppet).await;
        received
    }

    pub(crate) async fn read(&self, puppet: &Puppet, room: &RoomId, event: &OwnedEventId) -> Decrypted {
        let user = puppet.machine.user_id();
        let raw = self.client.event(user, room, event).await.unwrap().unwrap();
        assert!(raw.get().contains("m.room.encrypted") && !raw.get().contains("m.text"));
        puppet.machine.decrypt(&raw, room).await.unwrap()
    }
}

impl Puppet {
    /// Reached as a device of the appservice.
    pub(crate) fn masqueraded(machine: Machine) -> Self {
        Self { machine, token: None }
    }

    pub(crate) fn who(&self) -> AsDevice<'_> {
        let (user, device) = (self.machine.user_id(), self.machine.device_id());
        AsDevice { user, device, token: self.token.as_ref() }
    }

    pub(crate) fn user(&self) -> OwnedUserId {
        self.machine.user_id().to_owned()
    }
}

pub(crate) fn body(decrypted: &Decrypted) -> String {
    let event: Value = serde_json::from_str(decrypted.event.get()).unwrap();
    event["content"]["body"].as_str().unwrap().to_owned()
}

async fn start_synapse(folder: &Path, registration: std::path::PathBuf) -> Synapse {
    let mut config = Config::new(shared_venv(), folder.join("synapse"));
    config.registrations.push(registration);
    let start = move || {
        install(&config.venv)?;
        Synapse::start(config)
    };
    tokio::task::spawn_blocking(start).await.unwrap().unwrap()
}
