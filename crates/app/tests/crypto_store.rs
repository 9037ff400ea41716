//! The SDK's tests of a store over real SQLite, and key state that shares a transaction with everything else.

// Clippy's exception for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex},
};

use matrix_sdk_crypto::store::CryptoStore;
use parlour_app::crypto_rows::{CryptoBatch, CryptoRows};
use parlour_matrix::crypto::{PuppetStore, SealingKey, WriteBuffer};
use parlour_store::{Store, StoreError};
use ruma::{OwnedUserId, UserId, device_id};
use tempfile::TempDir;

/// A test's database, and the buffer of the crypto store that was opened on it last.
struct Opened {
    _folder: TempDir,
    store: Store,
    account: i64,
    buffer: Arc<WriteBuffer>,
}

static OPENED: LazyLock<Mutex<HashMap<String, Opened>>> = LazyLock::new(Mutex::default);

async fn database(user: &UserId) -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let user = user.to_owned();
    let account = store.write(move |tx| tx.add_device(&user, device_id!("D"), 1)).await.unwrap();
    Opened { _folder: folder, store, account, buffer: Arc::default() }
}

impl Opened {
    fn crypto_store(&self) -> PuppetStore {
        let rows = Arc::new(CryptoRows::new(self.store.clone()));
        PuppetStore::new(self.account, rows, self.buffer.clone(), SealingKey::new(&[7; 32]))
    }

    async fn commit(&self) {
        let mut writes = self.buffer.take(self.account);
        let batch = CryptoBatch::of(&mut writes);
        self.store.write(move |tx| batch.put(tx)).await.unwrap();
        self.buffer.committed(writes.ticket());
    }
}

/// A store as the suite asks for it: opening one again commits what the one before has buffered.
async fn get_store(name: &str, _passphrase: Option<&str>, clear: bool) -> PuppetStore {
    let before = OPENED.lock().unwrap().remove(name);
    let opened = match before.filter(|_| !clear) {
        Some(before) => {
            before.commit().await;
            Opened { buffer: Arc::default(), ..before }
        }
        None => database(&OwnedUserId::try_from("@ada:x").unwrap()).await,
    };
    let store = opened.crypto_store();
    OPENED.lock().unwrap().insert(name.to_owned(), opened);
    store
}

#[allow(unexpected_cfgs, reason = "the macro asks for features of the crate it comes from")]
mod suite {
    use super::get_store;

    matrix_sdk_crypto::cryptostore_integration_tests!();
    matrix_sdk_crypto::cryptostore_integration_tests_time!();
}

#[tokio::test]
async fn keys_and_everything_else_are_on_disk_together_or_not_at_all() {
    let opened = database(&OwnedUserId::try_from("@ada:x").unwrap()).await;
    opened.crypto_store().set_custom_value("a", b"1".to_vec()).await.unwrap();
    let mut writes = opened.buffer.take(opened.account);
    let batch = CryptoBatch::of(&mut writes);
    let (first, again) = (batch.clone(), batch);
    let failed: Result<(), StoreError> = opened
        .store
        .write(move |tx| {
            first.put(tx)?;
            tx.set_meta("log", b"written")?;
            Err(StoreError::Closed)
        })
        .await;
    assert!(failed.is_err());
    // a machine that is opened anew after a failed commit begins with an empty buffer
    let fresh = Opened { buffer: Arc::default(), ..opened };
    assert_eq!(fresh.crypto_store().get_custom_value("a").await.unwrap(), None);
    assert_eq!(fresh.store.read(|r| r.meta("log")).await.unwrap(), None);

    let done = fresh.store.write(move |tx| {
        again.put(tx)?;
        tx.set_meta("log", b"written")
    });
    done.await.unwrap();
    assert_eq!(fresh.crypto_store().get_custom_value("a").await.unwrap().unwrap(), b"1");
    assert!(fresh.store.read(|r| r.meta("log")).await.unwrap().is_some());
}
