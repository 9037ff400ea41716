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

const NEWCOMERS: usize = 8;

pub(super) async fn run(world: &World, den: &mut Den) -> Result<Value> {
    let room = world.hs.create_room(&den.person.user, "raw joins").await?;
    let (mut raw, mut joins, mut firsts, mut puts) = (vec![], vec![], vec![], vec![]);
    for i in 0..NEWCOMERS {
        // what a send into this very room takes the homeserver by itself; made while everybody there has the key
        den.person.share(&world.hs, &den.room).await?;
        let sealed = den.person.seal(&den.room, &marker::fresh()).await?;
        pause(200).await;
        raw.push(raw_join(world, den, &room, i).await?);
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
async fn raw_join(world: &World, den: &Den, room: &str, i: usize) -> Result<f64> {
    let name = format!("{}raw{}n{i}", world.tag, den.guests.len());
    let start = now();
    let newcomer = Person::new(&world.hs, &name).await?;
    let path = format!("/rooms/{}/invite", encode(room));
    let invite = json!({"user_id": newcomer.user});
    world.hs.call(Method::POST, &path, &den.person.user, Some(&invite)).await?;
    world.hs.join(room, &newcomer.user).await?;
    Ok(ms_since(start))
}
