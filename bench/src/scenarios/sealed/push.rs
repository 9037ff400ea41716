//! Made-up transactions: encrypted events as fast as the bridge takes them, and plain ones that carry the key counts of
//! many puppets, as Synapse adds them.
use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::Den;
use crate::{
    clock::pause,
    homeserver::encode,
    marker,
    scenarios::ingest::Pusher,
    stats::{ratio, spread},
    world::World,
};

const PUSHES: usize = 200;

/// Encrypted events of one session, a hundred to a transaction, until the last is in an inbox.
pub(super) async fn ingest(world: &World, den: &mut Den) -> Result<Value> {
    let pusher = Pusher::new(world, &den.room, &den.person.user)?;
    den.person.share(&world.hs, &den.room).await?;
    pause(1000).await;
    world.api.drain(&den.owner).await?;
    let (mut transactions, mut newest) = (vec![], String::new());
    for _ in 0..world.sizes.sealed_ingest / 100 {
        let mut events = vec![];
        for _ in 0..100 {
            newest = marker::fresh();
            events.push(pusher.sealed_event(den.person.seal(&den.room, &newest).await?));
        }
        transactions.push(events);
    }
    pusher.all(&transactions, &newest, &den.owner).await
}

/// Milliseconds from a PUT of one plain event to its 200.
pub(super) async fn answered(world: &World, den: &Den, with_keys: bool) -> Result<Value> {
    let pusher = Pusher::new(world, world.room(), &world.person)?;
    let counts = if with_keys { key_counts(world, den).await? } else { Map::new() };
    let mut took = vec![];
    for _ in 0..PUSHES {
        let event = pusher.event(&world.person, &marker::fresh());
        took.push(pusher.push(&pusher.transaction(&[event], &counts)).await?);
        pause(5).await;
    }
    Ok(spread(&took))
}

pub(super) fn compare(without: &Value, with: &Value) -> Value {
    json!({"ratioP50": ratio(with, without, "p50"), "withoutKeys": without, "withKeys": with})
}

/// The counts of all devices in the room, as they stand in each transaction (MSC3202).
async fn key_counts(world: &World, den: &Den) -> Result<Map<String, Value>> {
    let members = format!("/rooms/{}/joined_members", encode(&den.room));
    let members = world.hs.call(Method::GET, &members, &den.person.user, None).await?;
    let users = members["joined"].as_object().context("a room without members")?.keys();
    let users: Map<String, Value> = users.map(|user| (user.clone(), json!([]))).collect();
    let query = json!({"device_keys": users});
    let keys = world.hs.call(Method::POST, "/keys/query", &den.person.user, Some(&query)).await?;
    let (mut counts, mut types) = (Map::new(), Map::new());
    for (user, devices) in keys["device_keys"].as_object().context("no keys")? {
        for device in devices.as_object().into_iter().flat_map(Map::keys) {
            counts.insert(user.clone(), json!({device: {"signed_curve25519": 4}}));
            types.insert(user.clone(), json!({device: ["signed_curve25519"]}));
        }
    }
    Ok(Map::from_iter([
        ("org.matrix.msc3202.device_one_time_keys_count".to_owned(), Value::Object(counts.clone())),
        ("org.matrix.msc3202.device_one_time_key_counts".to_owned(), Value::Object(counts)),
        ("org.matrix.msc3202.device_unused_fallback_key_types".to_owned(), Value::Object(types)),
    ]))
}
