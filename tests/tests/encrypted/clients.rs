//! The two clients with each other, without the bridge: what the other stories see through them is true.

use anyhow::{Result, ensure};
use parlour_tests::{Client, Human, Plan, Stack};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn two_clients_understand_each_other_and_the_unsigned_one_has_a_shield() -> Result<()> {
    let stack = Stack::prepare(Plan::default()).await?;
    let ada = Human::register(&stack.synapse, stack.folder(), "ada", Client::Js).await?;
    let bob = Human::register(&stack.synapse, stack.folder(), "bob", Client::Nio).await?;
    let made = json!({"name": "Just us", "encrypted": true, "invite": [bob.user_id]});
    let room = ada.obey("create_room", made).await?["room"].as_str().unwrap_or_default().to_owned();
    bob.accept(&room).await?;
    ada.see_member(&room, &bob.user_id, "join").await?;

    let asked = bob.see_event(&ada.say(&room, "can you read this").await?).await?;
    ensure!(
        asked["kind"] == "message" && asked["body"] == "can you read this" && asked["encrypted"] == true,
        "{asked}"
    );
    let answered = ada.see_event(&bob.say(&room, "of course").await?).await?;
    ensure!(answered["kind"] == "message" && answered["body"] == "of course", "{answered}");
    ensure!(["grey", "red"].iter().any(|c| answered["shield"]["colour"] == *c), "no shield: {answered}");
    let devices = ada.obey("devices", json!({"user": bob.user_id})).await?;
    ensure!(
        devices["crossSigningKeys"] == false && devices["devices"][0]["signedByOwner"] == false,
        "{devices}"
    );

    // A strict person keeps keys from a device that nobody signed.
    ada.obey("isolation", json!({"strict": true})).await?;
    let secret = bob.see_event(&ada.say(&room, "not for you").await?).await?;
    ensure!(secret["kind"] == "undecryptable", "a strict person's word reached an unsigned device: {secret}");
    Ok(())
}
