use ruma::{device_id, user_id};

use crate::{CryptoWrite, Store, StoreError};

fn put(kind: u8, key: &[u8], value: &[u8]) -> CryptoWrite {
    CryptoWrite { kind, key: key.to_vec(), value: Some(value.to_vec()) }
}

async fn account(store: &Store, user: &str) -> i64 {
    let user = ruma::UserId::parse(user).unwrap();
    store.write(move |tx| tx.add_device(&user, device_id!("D"), 1)).await.unwrap()
}

async fn keys(store: &Store, account: i64, prefix: &[u8]) -> Vec<Vec<u8>> {
    let prefix = prefix.to_vec();
    let rows = store.read(move |r| r.crypto_scan(account, 1, &prefix)).await.unwrap();
    rows.into_iter().map(|(key, _)| key).collect()
}

#[tokio::test]
async fn rows_are_found_by_key_and_by_the_beginning_of_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (ada, bo) = (account(&store, "@ada:x").await, account(&store, "@bo:x").await);
    let batch = [
        put(1, b"a", b"1"),
        put(1, b"a\xff", b"2"),
        put(1, b"a\xff\xff", b"3"),
        put(1, b"b", b"4"),
        put(2, b"a", b"5"),
        put(1, b"\xff\xff", b"6"),
    ];
    store.write(move |tx| tx.crypto_put(ada, &batch)).await.unwrap();
    store.write(move |tx| tx.crypto_put(bo, &[put(1, b"a", b"7")])).await.unwrap();

    assert_eq!(store.read(move |r| r.crypto_get(ada, 2, b"a")).await.unwrap().unwrap(), b"5");
    assert_eq!(store.read(move |r| r.crypto_get(bo, 1, b"a")).await.unwrap().unwrap(), b"7");
    assert_eq!(store.read(move |r| r.crypto_get(bo, 1, b"b")).await.unwrap(), None);
    assert_eq!(keys(&store, ada, b"a\xff").await, [b"a\xff".to_vec(), b"a\xff\xff".to_vec()]);
    assert_eq!(keys(&store, ada, b"\xff").await, [b"\xff\xff".to_vec()]);
    assert_eq!(keys(&store, ada, b"").await.len(), 5);
}

#[tokio::test]
async fn a_batch_is_carried_out_in_order_and_an_account_is_forgotten_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (ada, bo) = (account(&store, "@ada:x").await, account(&store, "@bo:x").await);
    let gone = CryptoWrite { kind: 1, key: b"a".to_vec(), value: None };
    let batch = [put(1, b"a", b"1"), gone, put(1, b"b", b"2"), put(1, b"b", b"3")];
    for account in [ada, bo] {
        let batch = batch.clone();
        store.write(move |tx| tx.crypto_put(account, &batch)).await.unwrap();
    }
    let rows = store.read(move |r| r.crypto_scan(ada, 1, b"")).await.unwrap();
    assert_eq!(rows, [(b"b".to_vec(), b"3".to_vec())]);

    store.write(move |tx| tx.crypto_forget(ada)).await.unwrap();
    assert!(keys(&store, ada, b"").await.is_empty());
    assert_eq!(keys(&store, bo, b"").await.len(), 1);
}

#[tokio::test]
async fn what_shares_a_transaction_shares_its_fate() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let ada = account(&store, user_id!("@ada:x").as_str()).await;
    let failed: Result<(), StoreError> = store
        .write(move |tx| {
            tx.crypto_put(ada, &[put(1, b"a", b"1")])?;
            Err(StoreError::Closed)
        })
        .await;
    assert!(failed.is_err());
    assert!(keys(&store, ada, b"").await.is_empty());
    let nobodys = store.write(|tx| tx.crypto_put(99, &[put(1, b"a", b"1")])).await;
    assert!(nobodys.is_err(), "rows without a device could never be cleared away");
}

#[tokio::test]
async fn devices_are_found_by_a_row_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut accounts = vec![];
    for user in ["@ada:x", "@bo:x", "@cy:x"] {
        accounts.push(account(&store, user).await);
    }
    for (account, key) in accounts.clone().into_iter().zip([b"pat", b"pat", b"sam"]) {
        store.write(move |tx| tx.crypto_put(account, &[put(9, key, b"1")])).await.unwrap();
    }
    assert_eq!(store.read(|r| r.crypto_holders(9, b"pat")).await.unwrap(), accounts[..2]);
    let ada = accounts[0];
    store.write(move |tx| tx.set_device_state(ada, crate::DeviceState::Gone)).await.unwrap();
    assert_eq!(store.read(|r| r.crypto_holders(9, b"pat")).await.unwrap(), accounts[1..2]);
    assert!(store.read(|r| r.crypto_holders(1, b"pat")).await.unwrap().is_empty());
}
