//! The same story through REST and through MCP: the same bodies. Where they differ, it is said here.

mod front;
mod names;
mod story;

use anyhow::Result;
use parlour_tests::mcp::by_hand;
use parlour_tests::{Agent, Plan, Stack};
use serde_json::json;

use crate::common::text;
use front::Front;
use story::{LOBBIES, Run};

#[tokio::test(flavor = "multi_thread")]
async fn one_story_through_both_fronts() -> Result<()> {
    let stack = Stack::start(Plan { lobbies: vec!["lobby", "north", "south"], ..Plan::default() }).await?;
    stack.person("ada")?;
    let mut told = Vec::new();
    for (front, lobby) in [Front::Rest, Front::Mcp].into_iter().zip(LOBBIES) {
        told.push(Run::new(&stack, front, lobby).finish().await?);
    }
    for (rest, mcp) in told[0].iter().zip(&told[1]) {
        assert_eq!(rest, mcp);
    }
    assert_eq!(told[0].len(), told[1].len());
    stack.finish().await
}

/// At one moment, by one agent. In MCP two names differ, and so does how to sign.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_of_mistakes() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let bridge = stack.bridge.url();
    let scout = stack.agent("Scout", None).await?;
    for (argument, parameter, wrong) in [("settleSeconds", "settle", 31), ("digestMinutes", "digest", 0)] {
        let mcp = by_hand(&bridge, &scout.token, "wait_for_messages", json!({argument: wrong})).await?;
        let rest = scout.wait(&format!("{parameter}={wrong}")).await?.refusal(400, "invalid_request")?;
        assert_eq!(
            (&mcp["details"]["field"], &rest["details"]["field"]),
            (&json!(argument), &json!(parameter))
        );
        assert_eq!(text(&mcp["message"]), text(&rest["message"]).replacen(parameter, argument, 1));
    }
    let lobbies = by_hand(&bridge, "", "list_rooms", json!({})).await?;
    assert_eq!(lobbies, scout.get("/rooms").await?.expect(200)?);
    let unsigned = by_hand(&bridge, "", "get_self", json!({})).await?;
    let rest = Agent::known(&bridge, "nobody")?.get("/me").await?.refusal(401, "unauthorized")?;
    assert_eq!(unsigned["code"], rest["code"]);
    stack.finish().await
}
