//! The SDK's own tests of a store, and what it does not ask.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use parking_lot::Mutex;

use super::PuppetStore;
use crate::crypto::{SealingKey, WriteBuffer, testing::MemoryRows};

/// Each test's rows by its name, and the buffer of the store that was opened on them last.
type Opened = HashMap<String, (MemoryRows, Arc<WriteBuffer>)>;

static OPENED: LazyLock<Mutex<Opened>> = LazyLock::new(Mutex::default);

/// A store as the suite asks for it: opening one again commits what the one before has buffered.
async fn get_store(name: &str, _passphrase: Option<&str>, clear: bool) -> PuppetStore {
    let mut opened = OPENED.lock();
    if clear {
        opened.remove(name);
    }
    let (rows, buffer) = opened.entry(name.to_owned()).or_default();
    rows.write(&buffer.take(1));
    *buffer = Arc::default();
    let sealing = SealingKey::new(&[7; 32]);
    PuppetStore::new(1, Arc::new(rows.clone()), buffer.clone(), sealing)
}

#[allow(unexpected_cfgs, reason = "the macro asks for features of the crate it comes from")]
mod suite {
    use super::get_store;

    matrix_sdk_crypto::cryptostore_integration_tests!();
    matrix_sdk_crypto::cryptostore_integration_tests_time!();
}

mod own {
    use matrix_sdk_crypto::{
        OlmMachine,
        store::{CryptoStore, types::PendingChanges},
    };
    use ruma::{device_id, user_id};

    use super::*;

    fn store(rows: &MemoryRows, account: i64, key: u8) -> (PuppetStore, Arc<WriteBuffer>) {
        let buffer = Arc::<WriteBuffer>::default();
        let sealing = SealingKey::new(&[key; 32]);
        (PuppetStore::new(account, Arc::new(rows.clone()), buffer.clone(), sealing), buffer)
    }

    /// A machine with a cross-signing identity, and its seeds.
    async fn machine(rows: &MemoryRows) -> [String; 3] {
        let (store, buffer) = store(rows, 1, 1);
        let machine = OlmMachine::with_store(user_id!("@ada:x"), device_id!("D"), store, None).await.unwrap();
        machine.bootstrap_cross_signing(false).await.unwrap();
        rows.write(&buffer.take(1));
        let mut seeds = machine.export_cross_signing_keys().await.unwrap().unwrap();
        [&mut seeds.master_key, &mut seeds.self_signing_key, &mut seeds.user_signing_key]
            .map(|seed| seed.take().unwrap())
    }

    #[tokio::test]
    async fn nothing_is_on_disk_before_it_is_committed() {
        let rows = MemoryRows::default();
        let (store, buffer) = store(&rows, 1, 1);
        store.set_custom_value("a", b"b".to_vec()).await.unwrap();
        assert_eq!(store.get_custom_value("a").await.unwrap().unwrap(), b"b");
        assert!(rows.dump().is_empty());
        rows.write(&buffer.take(1));
        assert_eq!(rows.dump().len(), 1);
    }

    #[tokio::test]
    async fn another_key_or_another_account_opens_nothing() {
        let rows = MemoryRows::default();
        machine(&rows).await;
        assert!(store(&rows, 1, 1).0.load_account().await.unwrap().is_some());
        assert!(store(&rows, 1, 2).0.load_account().await.is_err());
        assert!(store(&rows, 2, 1).0.load_account().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn no_secret_lies_in_the_open() {
        let rows = MemoryRows::default();
        let seeds = machine(&rows).await;
        let shows = |value: &[u8], secret: &[u8]| value.windows(secret.len()).any(|window| window == secret);
        for ((_, kind, _), value) in rows.dump() {
            // version, nonce and tag are there
            assert!(value.len() >= 41 && value[0] == 1, "kind {kind}");
            for seed in &seeds {
                let bytes = vodozemac::base64_decode(seed).unwrap();
                assert!(!shows(&value, seed.as_bytes()) && !shows(&value, &bytes), "kind {kind}");
            }
            for name in ["pickle", "signing", "device"] {
                assert!(!shows(&value, name.as_bytes()), "kind {kind} shows {name}");
            }
        }
    }

    #[tokio::test]
    async fn an_empty_change_writes_nothing() {
        let rows = MemoryRows::default();
        let (store, buffer) = store(&rows, 1, 1);
        store.save_pending_changes(PendingChanges::default()).await.unwrap();
        store.save_changes(matrix_sdk_crypto::store::types::Changes::default()).await.unwrap();
        assert!(buffer.is_empty());
    }
}
