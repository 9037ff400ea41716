//! Agents that come into the room and speak at once: the join, and the first message, which waits for its key to be
//! shared.
use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::Den;
use crate::{
    clock::{ms_since, now, pause},
    homeserver::encode,
    marker,
    person::Person,
    stats::{ratio, spread},
    world::World,
};

const NEWCOMERS: usize = 24;

pub(super) async fn run(world: &World, den: &mut Den) -> Result<Value> {
    // as many are there as in the den: each who is there makes a join dearer for the homeserver
    let there = den.guests.len() + 2;
    let raw_room = world.floor_room(&format!("raw{there}n"), there).await?;
    let (mut raw, mut joins, mut firsts, mut puts) = (vec![], vec![], vec![], vec![]);
    for i in 0..NEWCOMERS {
        // what a send into this very room takes the homeserver by itself; made while everybody there has the key
        den.person.share(&world.hs, &den.room).await?;
        let sealed = den.person.seal(&den.room, &marker::fresh()).await?;
        pause(200).await;
        raw.push(raw_join(world, &raw_room, &format!("{there}new{i}")).await?);
        let start = now();
        let agent = den.enter(world, &format!("New {i}")).await?;
        joins.push(ms_since(start));
        let start = now();
        den.put_sealed(world, &sealed).await?;
        puts.push(ms_since(start));
        let (marker, start) = (marker::fresh(), now());
        let event_id = world.api.say(&agent, &marker).await?;
        firsts.push(ms_since(start));
        anyhow::ensure!(den.person.reads(&den.room, &event_id).await? == marker, "another text came out");
        world.api.leave(&agent).await?;
    }
    let minus_raw: Vec<f64> = firsts.iter().zip(&puts).map(|(first, put)| first - put).collect();
    let (raw, joins) = (spread(&raw), spread(&joins));
    Ok(json!({
        "puppetsThere": den.guests.len() + 1,
        "firstMessage": spread(&firsts),
        "rawPut": spread(&puts),
        "firstMessageMinusRawMs": spread(&minus_raw),
        "join": joins,
        "rawRegisterDeviceUploadJoin": raw,
        "joinRatioP50": ratio(&joins, &raw, "p50"),
    }))
}

/// What a private join is made of, without a bridge: register, device, its keys uploaded, invitation, join.
async fn raw_join(world: &World, (room, first): &(String, String), name: &str) -> Result<f64> {
    let start = now();
    let newcomer = Person::new(&world.hs, &format!("{}{name}", world.tag)).await?;
    let path = format!("/rooms/{}/invite", encode(room));
    let invite = json!({"user_id": newcomer.user});
    world.hs.call(Method::POST, &path, first, Some(&invite)).await?;
    world.hs.join(room, &newcomer.user).await?;
    Ok(ms_since(start))
}
