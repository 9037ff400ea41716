//! An agent's encrypted sends with the session shared, by turns with raw PUTs of ciphertexts into the same room.
use anyhow::{Result, ensure};
use serde_json::Value;

use super::Den;
use crate::{
    clock::{ms_since, now, pause},
    marker,
    scenarios::send::compare,
    stats::spread,
    world::World,
};

const WARM_UP: usize = 5;

pub(super) async fn run(world: &World, den: &mut Den) -> Result<Value> {
    den.person.share(&world.hs, &den.room).await?;
    let (mut raw, mut bridge) = (vec![], vec![]);
    for i in 0..world.sizes.sends + WARM_UP {
        let sealed = den.person.seal(&den.room, &marker::fresh()).await?;
        let start = now();
        den.put_sealed(world, &sealed).await?;
        let raw_ms = ms_since(start);
        pause(30).await;
        let (marker, start) = (marker::fresh(), now());
        let event_id = world.api.say(&den.owner, &marker).await?;
        let bridge_ms = ms_since(start);
        pause(30).await;
        if i >= WARM_UP {
            raw.push(raw_ms);
            bridge.push(bridge_ms);
        } else {
            ensure!(den.person.reads(&den.room, &event_id).await? == marker, "another text came out");
        }
    }
    Ok(compare(&spread(&raw), &spread(&bridge)))
}
