use ruma::{device_id, user_id};

use crate::{DeviceState, Store};

#[tokio::test]
async fn a_puppet_has_one_device_and_never_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let ada = user_id!("@ada:x");
    let add = |id: &'static str| store.write(move |tx| tx.add_device(ada, id.into(), 7));
    let first = add("ONE").await.unwrap();
    assert!(add("TWO").await.is_err(), "the first is still in use");
    store.write(move |tx| tx.set_device_state(first, DeviceState::Gone)).await.unwrap();
    assert_eq!(store.read(move |r| r.device_of(ada)).await.unwrap(), None);
    assert!(add("ONE").await.is_err(), "people's clients would refuse it");
    let second = add("TWO").await.unwrap();
    assert!(second > first);
    let all = store.read(|r| r.devices()).await.unwrap();
    let states: Vec<_> = all.iter().map(|d| (d.device_id.as_str(), d.state)).collect();
    assert_eq!(states, [("ONE", DeviceState::Gone), ("TWO", DeviceState::Making)]);
    let before = store.read(move |r| r.devices_before(ada)).await.unwrap();
    assert_eq!(before.iter().map(|d| d.account).collect::<Vec<_>>(), [first]);
    assert!(store.read(|r| r.devices_before(user_id!("@bo:x"))).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_known_of_a_device_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let ada = user_id!("@ada:x");
    {
        let store = Store::open(folder.path()).unwrap();
        let account = store.write(|tx| tx.add_device(ada, device_id!("D"), 7)).await.unwrap();
        store
            .write(move |tx| {
                tx.set_device_state(account, DeviceState::Live)?;
                tx.set_device_token(account, Some(b"sealed"))?;
                tx.set_device_since(account, "s1")?;
                tx.set_device_counts(account, Some(5), Some(true))?;
                tx.set_seeds(ada, b"old")?;
                tx.set_seeds(ada, b"seeds")
            })
            .await
            .unwrap();
        store.close();
    }
    let store = Store::open(folder.path()).unwrap();
    let row = store.read(|r| r.device_of(ada)).await.unwrap().unwrap();
    assert_eq!((row.state, row.created_at_ms), (DeviceState::Live, 7));
    assert_eq!((row.token.as_deref(), row.since.as_deref()), (Some(b"sealed".as_slice()), Some("s1")));
    assert_eq!((row.one_time_keys, row.fallback_unused), (Some(5), Some(true)));
    assert_eq!(store.read(|r| r.seeds(ada)).await.unwrap().unwrap(), b"seeds");
    assert_eq!(store.read(|r| r.seeds(user_id!("@bo:x"))).await.unwrap(), None);
}
