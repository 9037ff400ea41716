//! An agent's encrypted sends with the session shared, by turns with raw PUTs of ciphertexts into the same room: by a
//! user without a device, and by a device, whose events the homeserver also looks up and notes by their transaction id.
use anyhow::{Result, ensure};
use serde_json::Value;

use super::Den;
use crate::{
    clock::{ms_since, now, pause},
    marker,
    scenarios::send::compare,
    stats::{difference, ratio, spread},
    world::World,
};

const WARM_UP: usize = 5;
const PAUSE_MS: u64 = 30;

pub(super) async fn run(world: &World, den: &mut Den) -> Result<Value> {
    den.person.share(&world.hs, &den.room).await?;
    let (mut raw, mut device, mut bridge) = (vec![], vec![], vec![]);
    for i in 0..world.sizes.sends + WARM_UP {
        let raw_ms = raw_put(world, den, false).await?;
        let device_ms = raw_put(world, den, true).await?;
        let (marker, start) = (marker::fresh(), now());
        let event_id = world.api.say(&den.owner, &marker).await?;
        let bridge_ms = ms_since(start);
        pause(PAUSE_MS).await;
        if i >= WARM_UP {
            raw.push(raw_ms);
            device.push(device_ms);
            bridge.push(bridge_ms);
        } else {
            ensure!(den.person.reads(&den.room, &event_id).await? == marker, "another text came out");
        }
    }
    let (device, bridge) = (spread(&device), spread(&bridge));
    let mut block = compare(&spread(&raw), &bridge);
    block["ratioToDeviceP50"] = ratio(&bridge, &device, "p50");
    block["addedToDeviceMsP50"] = difference(&bridge, &device, "p50");
    block["rawPutFromDevice"] = device;
    Ok(block)
}

async fn raw_put(world: &World, den: &mut Den, from_device: bool) -> Result<f64> {
    let sealed = den.person.seal(&den.room, &marker::fresh()).await?;
    let start = now();
    if from_device {
        den.put_sealed_from_device(world, &sealed).await?;
    } else {
        den.put_sealed(world, &sealed).await?;
    }
    let ms = ms_since(start);
    pause(PAUSE_MS).await;
    Ok(ms)
}
