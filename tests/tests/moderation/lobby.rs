//! A moderator of a lobby bans an agent, and lets it back in.

use anyhow::Result;
use parlour_tests::{Plan, Stack, encode, until};
use reqwest::Method;
use serde_json::json;
use tokio::task::block_in_place;

use crate::common::becomes;

#[tokio::test(flavor = "multi_thread")]
async fn a_banned_agent_is_out_until_the_ban_is_lifted() -> Result<()> {
    let stack = Stack::prepare(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let lobby = ada.create_room(&json!({"preset": "public_chat", "room_alias_name": "lobby"})).await?;
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    let (scout, other) = (stack.agent("Scout", None).await?, stack.agent("Other", None).await?);
    for agent in [&scout, &other] {
        agent.settle_in().await?;
    }
    let unread = ada.say(&lobby, "before the ban").await?;
    other.hear(&unread).await?;
    let puppet = ada.member_named(&lobby, &scout.display_name).await?;
    let act = async |what: &str| {
        let path = format!("/rooms/{}/{what}", encode(&lobby));
        ada.call(Method::POST, &path, Some(&json!({"user_id": puppet}))).await?.expect(200)
    };

    act("ban").await?;
    let told = until("the ban to arrive", 30, async || {
        let answer = scout.send(&json!({"text": "am I still in?"})).await?;
        Ok((answer.body["code"] == "network_agent.room_not_joined").then_some(answer))
    });
    told.await?.refusal(404, "room_not_joined")?;
    let me = scout.get("/me").await?.expect(200)?;
    assert_eq!(me["rooms"], json!([]), "it has no room any more: {me}");
    scout
        .call(Method::POST, "/me/rooms", Some(&json!({"room": "lobby"})))
        .await?
        .refusal(403, "forbidden")?;
    becomes(&ada, &lobby, &puppet, "ban").await?;
    block_in_place(|| stack.synapse.restart())?;
    let after = ada.say(&lobby, "after the ban").await?;
    other.hear(&after).await?;

    act("unban").await?;
    block_in_place(|| stack.synapse.restart())?;
    scout.call(Method::POST, "/me/rooms", Some(&json!({"room": "lobby"}))).await?.expect(200)?;
    becomes(&ada, &lobby, &puppet, "join").await?;
    let now = ada.say(&lobby, "welcome back").await?;
    scout.hear(&now).await?;
    stack.finish().await
}
