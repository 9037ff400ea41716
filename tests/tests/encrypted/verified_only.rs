//! A person whose client gives keys only to those that they have verified: what it refuses, it refuses in earnest.

use anyhow::{Result, ensure};
use parlour_tests::Plan;
use serde_json::{Value, json};

use crate::world::{Trio, agent_reads, person_reads, reads_nothing_of};

#[tokio::test(flavor = "multi_thread")]
async fn a_person_gives_keys_only_to_agents_that_they_have_verified() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("getting acquainted").await?;
    let (ada, owner, guest) = (&trio.ada, &trio.owner, &trio.guest);
    let [verified, stranger] = [trio.puppet(owner).await?, trio.puppet(guest).await?];
    ada.obey("verify_user", json!({"user": verified})).await?;
    ada.obey("verified_only", json!({"on": true})).await?;

    let hidden = say_to_the_owner_alone(&trio, &stranger).await?;
    reads_nothing_of(guest, &hidden).await?;
    // what agents say still reaches everybody
    for agent in trio.agents() {
        let words = format!("{} is heard all the same", agent.display_name);
        person_reads(ada, &trio.world.agent_says(agent, &words).await?, &words).await?;
    }

    ada.obey("verify_user", json!({"user": stranger})).await?;
    trio.all_talk("being acquainted").await?;
    reads_nothing_of(guest, &hidden).await?;
    ensure!(hidden.iter().all(|(id, _)| guest.heard().iter().all(|m| m["eventId"] != id.as_str())), "heard");
    trio.finish().await
}

/// Two messages, the second with a key that was in use already; the stranger is told that it gets none.
async fn say_to_the_owner_alone(trio: &Trio, stranger: &str) -> Result<[(String, &'static str); 2]> {
    let mut said = [(String::new(), "for verified ears alone"), (String::new(), "and this as well")];
    for (event_id, words) in &mut said {
        *event_id = trio.world.human_says(&trio.ada, &trio.room.id, words).await?;
        agent_reads(&trio.owner, event_id, words).await?;
    }
    let refusal =
        |e: &Value| e["kind"] == "refusal" && e["room"] == trio.room.id.as_str() && e["user"] == stranger;
    let refusal = trio.ada.see("a refusal of the key", refusal).await?;
    ensure!(refusal["code"] == "m.unverified", "refused for another reason: {refusal}");
    // it has heard what came after them
    let after = trio.world.agent_says(&trio.owner, "said by the owner thereafter").await?;
    agent_reads(&trio.guest, &after, "said by the owner thereafter").await?;
    Ok(said)
}
