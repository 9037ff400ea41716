//! Keys that are lost, and databases that are put back: people see the same puppets, and nothing that was used is used
//! again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Plan, encode, fresh_uuid, until};
use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::text;
use crate::world::{Trio, agent_reads, person_reads, signed_device};

/// Puppets and the one device that each of them has.
type Devices = BTreeMap<String, String>;

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_taken_under_load_becomes_a_bridge_again() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("what is worth keeping").await?;
    let before = devices(&trio).await?;
    let copy = backup_under_load(&trio).await?;
    // What the copy knows nothing of: ratchets go on, a session, an id that is used up.
    trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
    trio.all_talk("what came after it").await?;
    let used = json!({"text": "said under an id", "roomId": trio.room.id, "submissionId": fresh_uuid()});
    trio.world.note("said under an id");
    person_reads(&trio.ada, &trio.owner.send_until_sent(&used, 60).await?, "said under an id").await?;

    trio.world.stack.bridge.kill()?;
    put_back(&trio, &copy)?;
    trio.world.stack.bridge.start()?;
    trio.world.stack.bridge.ready().await?;
    goes_on_with_other_devices(&trio, &before).await?;
    says_something_else_under(&trio, &used).await?;
    trio.finish().await
}

/// A copy by hand, of a bridge that was stopped: it knows nothing of being one.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_database_is_put_back() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("the beginning").await?;
    let before = devices(&trio).await?;
    let (bridge, folder) = (&trio.world.stack.bridge, trio.world.stack.folder());
    bridge.stop().await?;
    let copy = folder.join("copy");
    copy_folder(&folder.join("data"), &copy)?;
    bridge.start()?;
    bridge.ready().await?;
    trio.all_talk("what the copy does not know").await?;
    ensure!(devices(&trio).await? == before, "a usual start needs no other devices");
    bridge.stop().await?;
    put_back(&trio, &copy)?;
    // With a session that the copy has the key of, as has every device before it.
    let words = "said to nobody who runs";
    let early = trio.world.human_says(&trio.ada, &trio.room.id, words).await?;
    bridge.start()?;
    bridge.ready().await?;
    trio.agents().into_iter().for_each(Agent::forget_heard);
    for agent in trio.agents() {
        agent_reads(agent, &early, words).await?;
    }
    goes_on_with_other_devices(&trio, &before).await?;
    let now = devices(&trio).await?;
    bridge.restart().await?;
    trio.all_talk("as if nothing had been").await?;
    ensure!(devices(&trio).await? == now, "the database is not an old one any more");
    trio.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_all_devices_are_lost() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("the keys").await?;
    let before = devices(&trio).await?;
    without(&trio, &["crypto"]).await?;
    goes_on_with_other_devices(&trio, &before).await?;
    trio.finish().await
}

/// Then puppets have other identities, and people are told so.
#[tokio::test(flavor = "multi_thread")]
async fn keys_and_identities_are_lost() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("who they are").await?;
    let before = devices(&trio).await?;
    without(&trio, &["crypto", "identities"]).await?;
    other_devices(&trio, &before).await?;
    trio.all_talk("who they are now").await?;
    for puppet in before.keys() {
        let known = trio.ada.obey("devices", json!({"user": puppet})).await?;
        ensure!(known["identity"]["changed"] == true, "another identity, and nobody is told: {known}");
    }
    trio.finish().await
}

/// All agents and the person, a few times each.
/// Copies while all three speak, again and again until ten messages were said while copies were made; the last copy.
async fn backup_under_load(trio: &Trio) -> Result<PathBuf> {
    let (said, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let copies = async {
        let mut during = 0;
        for number in 0..20 {
            let copy = trio.world.stack.folder().join(format!("backup-{number}"));
            let before = said.load(Ordering::SeqCst);
            trio.world.stack.bridge.command_beside(&["backup", &copy.to_string_lossy()]).await?;
            during += said.load(Ordering::SeqCst) - before;
            if during >= 10 {
                done.store(true, Ordering::SeqCst);
                return Ok(copy);
            }
        }
        anyhow::bail!("{during} messages while twenty copies were made")
    };
    tokio::try_join!(copies, everybody_speaks(trio, &said, &done)).map(|(copy, ())| copy)
}

async fn everybody_speaks(trio: &Trio, said: &AtomicUsize, done: &AtomicBool) -> Result<()> {
    let next = || said.fetch_add(1, Ordering::SeqCst);
    let agent = async |agent: &Agent| {
        while !done.load(Ordering::SeqCst) {
            trio.world.agent_says(agent, &format!("under load, number {}", next())).await?;
        }
        anyhow::Ok(())
    };
    let person = async {
        while !done.load(Ordering::SeqCst) {
            let words = format!("the person, number {}", next());
            trio.world.human_says(&trio.ada, &trio.room.id, &words).await?;
        }
        anyhow::Ok(())
    };
    tokio::try_join!(agent(&trio.owner), agent(&trio.guest), person).map(drop)
}

/// Everybody reads everybody, from devices that are signed by the same identities as before.
async fn goes_on_with_other_devices(trio: &Trio, before: &Devices) -> Result<()> {
    trio.agents().into_iter().for_each(Agent::forget_heard);
    other_devices(trio, before).await?;
    trio.all_talk("a new life").await?;
    for puppet in before.keys() {
        let known = trio.ada.obey("devices", json!({"user": puppet})).await?;
        ensure!(known["identity"]["changed"] == false, "people are told of another identity: {known}");
    }
    Ok(())
}

/// Waits until the person's client knows one other device of each puppet, and none besides.
async fn other_devices(trio: &Trio, before: &Devices) -> Result<()> {
    for (puppet, device) in before {
        until("another device", 30, async || {
            let known = trio.ada.obey("devices", json!({"user": puppet})).await?;
            let ids: Vec<&str> =
                known["devices"].as_array().into_iter().flatten().map(|d| text(&d["device"])).collect();
            Ok((ids.len() == 1 && ids[0] != device).then_some(()))
        })
        .await?;
        signed_device(&trio.ada, puppet).await?;
    }
    Ok(())
}

/// The copy does not know that the id was used; the homeserver does, and must not take the new words for the old.
async fn says_something_else_under(trio: &Trio, used: &Value) -> Result<()> {
    let words = "something else under the same id";
    trio.world.note(words);
    let mut body = used.clone();
    body["text"] = words.into();
    let event_id = trio.owner.send_until_sent(&body, 60).await?;
    person_reads(&trio.ada, &event_id, words).await.map(drop)
}

async fn devices(trio: &Trio) -> Result<Devices> {
    let path = format!("/rooms/{}/joined_members", encode(&trio.room.id));
    let members = trio.ada.raw.call(Method::GET, &path, None).await?.expect(200)?;
    let members = members["joined"].as_object().context("no members")?;
    let mut devices = Devices::new();
    for puppet in members.keys().filter(|user| user.starts_with("@agent_")) {
        devices.insert(puppet.clone(), signed_device(&trio.ada, puppet).await?);
    }
    ensure!(devices.len() == 2, "two puppets: {devices:?}");
    Ok(devices)
}

/// Stops the bridge, empties tables of its database, and starts it again.
async fn without(trio: &Trio, tables: &[&str]) -> Result<()> {
    let bridge = &trio.world.stack.bridge;
    bridge.stop().await?;
    let database = Connection::open(bridge.database()?)?;
    for table in tables {
        let gone = database.execute(&format!("DELETE FROM {table}"), [])?;
        ensure!(gone > 0, "{table} was empty");
    }
    drop(database);
    bridge.start()?;
    bridge.ready().await
}

/// As the manual says: out with all that is there, in with the copy.
fn put_back(trio: &Trio, copy: &Path) -> Result<()> {
    let data = trio.world.stack.folder().join("data");
    std::fs::rename(&data, data.with_extension("lost"))?;
    copy_folder(copy, &data)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir(to)?;
    let files: BTreeSet<PathBuf> =
        std::fs::read_dir(from)?.map(|file| Ok(file?.path())).collect::<std::io::Result<_>>()?;
    for file in files {
        let name = file.file_name().context("a file without a name")?;
        std::fs::copy(&file, to.join(name))?;
    }
    Ok(())
}
