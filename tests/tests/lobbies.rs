//! Many lobbies on one homeserver.
#![allow(clippy::disallowed_methods, reason = "a story runs in real time beside real processes")]

use std::time::{Duration, Instant};

use anyhow::Result;
use parlour_tests::{Plan, SERVER_NAME, Stack};

const SLUGS: [&str; 30] = [
    "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b0", "b1", "b2", "b3", "b4", "b5", "b6",
    "b7", "b8", "b9", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9",
];

/// The operator's guide promises both times.
#[tokio::test(flavor = "multi_thread")]
async fn thirty_lobbies_are_there_within_two_minutes_and_again_within_one() -> Result<()> {
    let stack = Stack::prepare(Plan { lobbies: SLUGS.to_vec(), ..Plan::default() }).await?;
    let first = Instant::now();
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    assert!(first.elapsed() < Duration::from_secs(120), "the first start took {:?}", first.elapsed());
    let ada = stack.person("ada")?;
    for slug in SLUGS {
        ada.resolve(&format!("#{slug}:{SERVER_NAME}")).await?;
    }
    stack.bridge.stop().await?;
    let again = Instant::now();
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    assert!(again.elapsed() < Duration::from_secs(60), "a later start took {:?}", again.elapsed());
    stack.agent("Scout", Some("c9")).await?;
    stack.finish().await
}
