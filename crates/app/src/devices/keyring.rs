use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, RwLock};
use parlour_domain::ids::RoomKey;
use parlour_matrix::{
    AsDevice,
    crypto::{DeviceAccount, KeyCounts, Machine, Rows, SealingKey},
};
use parlour_store::{DeviceRow, DeviceState, Store};
use ruma::{OwnedDeviceId, OwnedUserId, UserId};
use secrecy::SecretString;
use tokio::sync::{Notify, Semaphore};

use super::{DeviceError, Held, awaited::Awaited, reads::Reads};
use crate::{crypto_rows::CryptoRows, view::DeviceWay};

/// A machine that nobody has used for so long is let go.
const UNUSED_MS: i64 = 10 * 60_000;

/// Devices that something is done about in the background at the same time.
const AT_ONCE: usize = 8;

/// All devices of puppets that are not given up.
pub(crate) struct Keyring {
    slots: RwLock<HashMap<OwnedUserId, Arc<Slot>>>,
    pub(super) rows: Arc<dyn Rows>,
    pub(super) sealing: SealingKey,
    /// For whoever holds several machines at once.
    pub(crate) many: Arc<tokio::sync::Mutex<()>>,
    /// The key counts that came last, as they came: the same again are no news.
    pub(crate) last_counts: Mutex<(String, String)>,
    pub(crate) awaited: Awaited,
    /// Counts the starts and outages after which nobody's devices are known for sure.
    pub(super) doubts: AtomicU64,
    /// The homeserver was seen to push messages for devices, and what it has left of their keys.
    pub(crate) pushes: [AtomicBool; 2],
    /// As it was probed last.
    way: Mutex<Option<DeviceWay>>,
    /// For what is done in the background, see [`App::beside`](crate::App).
    pub(super) places: Semaphore,
    /// Told when a device was given up.
    pub(crate) lost: Notify,
    /// Told when it is in doubt whether the homeserver still has all devices.
    pub(crate) census: Notify,
    /// When the last look after all devices began, and how long it took, in milliseconds.
    last_census: Mutex<(i64, i64)>,
}

/// One puppet's place for a device.
pub(crate) struct Slot {
    pub(crate) user: OwnedUserId,
    device: Mutex<Option<Device>>,
    machine: Arc<tokio::sync::Mutex<Option<Machine>>>,
    pub(super) spoiled: AtomicBool,
    reads: Mutex<Reads>,
    /// Requests and their answers, and whole ways to a prepared room: one at a time.
    pub(super) conversation: tokio::sync::Mutex<()>,
    pub(super) making: tokio::sync::Mutex<()>,
    pub(super) pulling: tokio::sync::Mutex<()>,
    used_ms: AtomicI64,
    pub(super) pulled_ms: AtomicI64,
    /// It had a device and has to have one again.
    bereft: AtomicBool,
    /// Somebody looks whether the homeserver still has its device.
    pub(super) looked_after: AtomicBool,
    /// Up to which doubt people's devices were asked for again.
    pub(super) checked: AtomicU64,
}

/// What is known of a device without opening it.
#[derive(Clone)]
pub(crate) struct Device {
    pub(crate) account: i64,
    pub(crate) device_id: OwnedDeviceId,
    pub(crate) live: bool,
    pub(super) token: Option<SecretString>,
    pub(super) counts: Option<KeyCounts>,
    pub(super) since: Option<String>,
}

impl Keyring {
    pub(crate) fn new(store: Store, sealing: SealingKey, devices: Vec<DeviceRow>) -> Self {
        let keyring = Self {
            slots: RwLock::default(),
            rows: Arc::new(CryptoRows::new(store)),
            sealing,
            many: Arc::default(),
            last_counts: Mutex::default(),
            awaited: Awaited::default(),
            doubts: AtomicU64::new(1),
            pushes: Default::default(),
            way: Mutex::default(),
            places: Semaphore::new(AT_ONCE),
            lost: Notify::new(),
            census: Notify::new(),
            last_census: Mutex::default(),
        };
        for row in devices {
            let slot = keyring.slot(&row.user_id);
            match row.state {
                DeviceState::Gone => slot.bereft.store(true, Ordering::Relaxed),
                DeviceState::Making | DeviceState::Live => slot.put(keyring.device(&row)),
            }
        }
        keyring
    }

    pub(super) fn device(&self, row: &DeviceRow) -> Device {
        let counts = row
            .one_time_keys
            .map(|one_time_keys| KeyCounts { one_time_keys, fallback_unused: row.fallback_unused });
        let place = token_place(&row.user_id, row.device_id.as_str());
        let token = row.token.as_ref().and_then(|sealed| self.sealing.open(&place, sealed).ok());
        let token = token.and_then(|plain| String::from_utf8(plain.to_vec()).ok()).map(SecretString::from);
        Device {
            account: row.account,
            device_id: row.device_id.clone(),
            live: row.state == DeviceState::Live,
            token,
            counts,
            since: row.since.clone(),
        }
    }

    /// A puppet's place, made where it has none.
    pub(crate) fn slot(&self, user: &UserId) -> Arc<Slot> {
        if let Some(slot) = self.slots.read().get(user) {
            return slot.clone();
        }
        let mut slots = self.slots.write();
        slots.entry(user.to_owned()).or_insert_with(|| Arc::new(Slot::new(user.to_owned()))).clone()
    }

    /// The place of a puppet that has a device.
    pub(crate) fn with_device(&self, user: &UserId) -> Option<Arc<Slot>> {
        self.slots.read().get(user).filter(|slot| slot.device().is_some()).cloned()
    }

    /// All that have a device.
    pub(crate) fn all(&self) -> Vec<Arc<Slot>> {
        self.slots.read().values().filter(|slot| slot.device().is_some()).cloned().collect()
    }

    /// Notes what a probe has found; what was found before.
    pub(crate) fn found_way(&self, way: DeviceWay) -> Option<DeviceWay> {
        let [messages, news] = &self.pushes;
        messages.store(matches!(way, DeviceWay::Pushed | DeviceWay::PushedInPart), Ordering::Relaxed);
        news.store(way == DeviceWay::Pushed, Ordering::Relaxed);
        self.way.lock().replace(way)
    }

    /// How devices are reached, once that is known.
    pub(crate) fn way(&self) -> Option<DeviceWay> {
        *self.way.lock()
    }

    pub(crate) fn last_census(&self) -> (i64, i64) {
        *self.last_census.lock()
    }

    pub(super) fn had_census(&self, began_ms: i64, took_ms: i64) {
        *self.last_census.lock() = (began_ms, took_ms);
    }

    /// All that had a device and have none now.
    pub(crate) fn bereft(&self) -> Vec<Arc<Slot>> {
        let slots = self.slots.read();
        let bereft = slots.values().filter(|s| s.bereft.load(Ordering::Relaxed) && !s.is_live());
        bereft.cloned().collect()
    }

    /// Whether news of devices come by themselves.
    pub(crate) fn is_pushed(&self) -> bool {
        self.pushes.iter().all(|seen| seen.load(Ordering::Relaxed))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.read().is_empty()
    }

    /// Lets machines go that nobody uses.
    pub(crate) fn let_go(&self, now_ms: i64) {
        for slot in self.all() {
            if slot.used_ms.load(Ordering::Relaxed) + UNUSED_MS < now_ms
                && let Ok(mut machine) = slot.machine.try_lock()
            {
                *machine = None;
            }
        }
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keyring({})", self.slots.read().len())
    }
}

pub(super) fn token_place<'a>(user: &'a UserId, device: &'a str) -> [&'a [u8]; 3] {
    [b"device token", user.as_bytes(), device.as_bytes()]
}

impl Slot {
    fn new(user: OwnedUserId) -> Self {
        Self {
            user,
            device: Mutex::default(),
            machine: Arc::default(),
            spoiled: AtomicBool::new(false),
            reads: Mutex::default(),
            conversation: tokio::sync::Mutex::default(),
            making: tokio::sync::Mutex::default(),
            pulling: tokio::sync::Mutex::default(),
            used_ms: AtomicI64::new(0),
            pulled_ms: AtomicI64::new(0),
            bereft: AtomicBool::new(false),
            looked_after: AtomicBool::new(false),
            checked: AtomicU64::new(0),
        }
    }

    pub(crate) fn device(&self) -> Option<Device> {
        self.device.lock().clone()
    }

    pub(crate) fn is_live(&self) -> bool {
        self.device.lock().as_ref().is_some_and(|device| device.live)
    }

    /// It had a device before; in an old database that is put back, perhaps one that nobody here knows of.
    pub(super) fn is_bereft(&self) -> bool {
        self.bereft.load(Ordering::Relaxed)
    }

    pub(super) fn put(&self, device: Device) {
        *self.device.lock() = Some(device);
    }

    pub(crate) fn alter(&self, change: impl FnOnce(&mut Device)) {
        self.device.lock().as_mut().map(change);
    }

    /// Whether its device is known to read this place of a session. `false`: its machine has to be asked.
    pub(crate) fn reads(&self, room: RoomKey, session_id: &str, message_index: u32) -> bool {
        !self.spoiled.load(Ordering::Relaxed) && self.reads.lock().has(room, session_id, message_index)
    }

    /// Its machine said so.
    pub(crate) fn now_reads(&self, room: RoomKey, session_id: &str, message_index: u32) {
        self.reads.lock().note(room, session_id, message_index);
    }

    /// Whether what waits for it was fetched a moment ago.
    pub(crate) fn pulled_since(&self, ms: i64) -> bool {
        self.pulled_ms.load(Ordering::Relaxed) > ms
    }

    pub(super) fn used(&self, now_ms: i64) {
        self.used_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    /// The device is given up. Waits until nobody holds its machine.
    pub(super) async fn forget(&self) {
        let mut machine = self.machine.lock().await;
        *machine = None;
        self.reads.lock().forget();
        *self.device.lock() = None;
        self.bereft.store(true, Ordering::Relaxed);
    }

    /// Puts a machine in that was just made.
    pub(super) async fn hold_new(self: &Arc<Self>, machine: Machine) -> Result<Held, DeviceError> {
        let mut guard = self.machine.clone().lock_owned().await;
        self.spoiled.store(false, Ordering::Relaxed);
        self.reads.lock().forget();
        *guard = Some(machine);
        Held::new(self.clone(), guard)
    }

    /// The machine, from memory or from disk.
    ///
    /// # Errors
    /// [`CryptoError::Lost`](parlour_matrix::crypto::CryptoError::Lost) where the database has no keys for it.
    pub(crate) async fn hold(self: &Arc<Self>, keyring: &Keyring) -> Result<Held, DeviceError> {
        let mut guard = self.machine.clone().lock_owned().await;
        if self.spoiled.swap(false, Ordering::Relaxed) {
            *guard = None;
            self.reads.lock().forget();
        }
        if guard.is_none() {
            let device = self.device().ok_or(DeviceError::NoDevice)?;
            let account = DeviceAccount {
                account: device.account,
                user_id: self.user.clone(),
                device_id: device.device_id,
            };
            let opened =
                Machine::open(account, keyring.rows.clone(), keyring.sealing.clone(), device.counts).await?;
            *guard = Some(opened);
        }
        Held::new(self.clone(), guard)
    }
}

impl Device {
    pub(crate) fn has_counts(&self, counts: KeyCounts) -> bool {
        self.counts == Some(counts)
    }

    pub(crate) fn set_counts(&mut self, counts: KeyCounts) {
        self.counts = Some(counts);
    }

    /// Whom calls are made as.
    pub(super) fn who<'a>(&'a self, user: &'a UserId) -> AsDevice<'a> {
        AsDevice { user, device: &self.device_id, token: self.token.as_ref() }
    }
}
