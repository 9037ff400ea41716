//! The bridge started anew with all these keys: how soon it answers, sends and reads, and what its puppets weigh while
//! nobody uses them.
use anyhow::Result;
use serde_json::{Value, json};

use super::Den;
use crate::{
    clock::{ms_since, now, pause},
    machine, marker,
    stats::round,
    waiters::Waiters,
    world::{ARRIVES, World},
};

pub(super) async fn run(world: &mut World, den: &mut Den) -> Result<Value> {
    if !world.bridge.can_restart() {
        return Ok(json!({"skipped": "needs --restart-command, --pid-file and --pid"}));
    }
    den.person.share(&world.hs, &den.room).await?;
    let before = machine::process(world.bridge.pid());
    world.bridge.stop().await?;
    let start = now();
    world.bridge.start()?;
    while let Err(error) = world.api.wait(&den.owner, "wait=0&limit=1").await {
        world.bridge.check_running()?;
        anyhow::ensure!(ms_since(start) < 60_000.0, "no answer within a minute: {error:#}");
        pause(5).await;
    }
    let answers = ms_since(start);
    world.api.say(&den.owner, &marker::fresh()).await?;
    let sends = ms_since(start);
    let read = reads(world, den, start).await?;
    // pulls go on in the background
    pause(30_000).await;
    let after = machine::process(world.bridge.pid());
    Ok(json!({
        "puppets": den.guests.len() + 1,
        "answersAfterSeconds": round(answers / 1000.0),
        "sendsAfterSeconds": round(sends / 1000.0),
        "readsAfterSeconds": read.map(|ms| round(ms / 1000.0)),
        "beforeStop": before,
        "after": after,
    }))
}

/// What one more puppet with keys takes of an idle bridge.
pub(super) fn per_puppet(few: &Value, many: &Value) -> Value {
    let more = |at: &str| Some(many.pointer(at)?.as_f64()? - few.pointer(at)?.as_f64()?);
    let Some(puppets) = more("/puppets").filter(|n| *n > 0.0) else { return json!({}) };
    let each = |at: &str| more(at).map(|x| round(x / puppets));
    json!({"rssKiB": each("/after/rssKiB"), "openFiles": each("/after/openFiles")})
}

/// A person's word, said as soon as the bridge answered, in an agent's hands.
async fn reads(world: &World, den: &mut Den, start: std::time::Instant) -> Result<Option<f64>> {
    let marker = marker::fresh();
    let sealed = den.person.seal(&den.room, &marker).await?;
    den.put_sealed(world, &sealed).await?;
    let mut waiter = Waiters::at_once(&world.api, &den.owner);
    Ok(waiter.collect(&marker, start, ARRIVES).await.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_more_puppet_takes_is_what_both_starts_differ_by() {
        let start = |puppets: u32, rss: u32, files: u32| json!({"puppets": puppets, "after": {"rssKiB": rss, "openFiles": files}});
        let more = per_puppet(&start(1, 20_000, 30), &start(101, 30_000, 40));
        assert_eq!(more, json!({"rssKiB": 100.0, "openFiles": 0.1}));
        assert_eq!(per_puppet(&start(1, 1, 1), &start(1, 2, 2)), json!({}));
        assert_eq!(per_puppet(&json!({}), &start(1, 2, 2)), json!({}));
    }
}
