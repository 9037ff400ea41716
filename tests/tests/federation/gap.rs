//! People elsewhere talk while their homeserver does not reach the one at home, which is then brought their last words and
//! a few before them. The rest it has once somebody asks for it, and agents hear all.

use std::time::Duration;

use anyhow::Result;
use parlour_tests::{Person, Plan, Stack};

use crate::alias;

/// More than two pages.
const WORDS: usize = 250;

#[ignore = "a homeserver takes its time to try again; run by `cargo xtask soak`"]
#[tokio::test(flavor = "multi_thread")]
async fn soak_nothing_is_missed_that_was_said_beyond_a_closed_border() -> Result<()> {
    let stack = Stack::start(Plan { elsewhere: true, ..Plan::default() }).await?;
    let scout = stack.agent("Scout", None).await?;
    scout.settle_in().await?;
    let eve = Person::register(stack.elsewhere()?, "eve")?;
    eve.join(&alias(&stack, "lobby")).await?;
    scout.hear(&eve.say(&scout.room, "the first word").await?).await?;

    stack.border()?.close();
    let mut said = Vec::new();
    for n in 0..WORDS {
        said.push(eve.say(&scout.room, &format!("word {n}")).await?);
    }
    // what is closed only for a moment is made up for by the homeservers
    tokio::time::sleep(Duration::from_secs(15)).await;
    stack.border()?.open();
    said.push(eve.say(&scout.room, "the last word").await?);
    for event_id in said.iter().rev() {
        scout.hear(event_id).await?;
    }
    assert_eq!(scout.heard().len(), 1 + WORDS + 1);
    stack.finish().await
}
