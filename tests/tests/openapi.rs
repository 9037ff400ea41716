//! The API against its own description: schemathesis makes requests out of `/openapi.json`, right ones and wrong ones, and holds
//! every answer of the real bridge to it.
#![allow(clippy::print_stdout, reason = "a story prints the figures that it measured")]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Plan, Stack, encode};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;

mod common;
use common::text;

/// Requests of a run at the least, all phases together. `PARLOUR_EXAMPLES` asks for more.
const REQUESTS: u64 = 500;

/// Operations of the document that take part.
const OPERATIONS: u64 = 20;

/// The virtual environment that schemathesis is in.
fn schemathesis() -> Result<PathBuf> {
    let venv = std::env::var_os("PARLOUR_SCHEMATHESIS");
    venv.map(PathBuf::from)
        .context("PARLOUR_SCHEMATHESIS does not say where schemathesis is: use `cargo xtask test`")
}

fn requests() -> u64 {
    std::env::var_os("PARLOUR_EXAMPLES")
        .and_then(|n| n.into_string().ok())
        .and_then(|n| n.parse().ok())
        .unwrap_or(REQUESTS)
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi")
}

/// What exists on the bridge, so that requests can name it.
struct World {
    stack: Stack,
    scout: Agent,
    ids: Value,
}

impl World {
    async fn new() -> Result<Self> {
        let stack = Stack::start(Plan::default()).await?;
        let (scout, other, guest) = (
            stack.agent("Scout", None).await?,
            stack.agent("Robin", None).await?,
            stack.agent("Guest", None).await?,
        );
        let mut events = Vec::new();
        for n in 0..5 {
            events.push(other.say_here(&format!("Word {n} to {}", scout.display_name)).await?);
        }
        let den = scout
            .call(Method::POST, "/me/private-rooms", Some(&json!({"name": "Den"})))
            .await?
            .expect(201)?;
        let number = text(&den["room"]["catalogId"]).to_owned();
        let code = text(&den["code"]["code"]).to_owned();
        stack.keep_secret(&code);
        other.call(Method::POST, "/me/rooms", Some(&json!({"code": code}))).await?.expect(200)?;
        guest.call(Method::POST, "/me/rooms", Some(&json!({"room": number}))).await?.expect(202)?;
        let rooms = [scout.room.clone(), text(&den["room"]["matrixRoomId"]).to_owned(), number.clone()];
        let ids = json!({
            "roomId": rooms.clone().map(|r| encode(&r)), "id": [number], "room": ["lobby", number],
            "agentId": [other.agent_id, guest.agent_id], "ids": events, "around": events, "before": events,
            "after": events, "replyTo": events, "eventId": events, "accountId": [format!("@ada:{}", parlour_tests::SERVER_NAME)],
        });
        stack.person("ada")?;
        Ok(Self { stack, scout, ids })
    }

    fn file(&self) -> PathBuf {
        self.stack.folder().join("world.json")
    }

    /// In the story's own folder, which only we may read: a token in an argument could be read by anyone.
    fn write(&self, token: Option<&str>) -> Result<()> {
        let api = format!("{}/v1/network-agents", self.stack.bridge.url());
        let world = json!({"api": api, "token": token, "ids": self.ids});
        Ok(std::fs::write(self.file(), world.to_string())?)
    }

    /// Runs it over the document; gives how many requests it made.
    async fn try_all(&self, token: Option<&str>, arguments: &[&str]) -> Result<u64> {
        self.write(token)?;
        let report = self.stack.folder().join("report.ndjson");
        let mut command = Command::new(schemathesis()?.join("bin/schemathesis"));
        command.arg("--config-file").arg(here().join("schemathesis.toml")).arg("run");
        command.arg(format!("{}/openapi.json", self.stack.bridge.url()));
        command.arg("--report-ndjson-path").arg(&report).args(arguments);
        command
            .env("SCHEMATHESIS_HOOKS", "hooks")
            .env("PYTHONPATH", here())
            .env("PARLOUR_WORLD", self.file());
        command.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(self.stack.folder());
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "schemathesis ended with {}:\n{said}", output.status);
        count(&report).with_context(|| format!("no report; it said:\n{said}"))
    }
}

/// Requests in a report.
fn count(report: &Path) -> Result<u64> {
    let text = std::fs::read_to_string(report)?;
    let calls =
        text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).map(|line| cases(&line));
    Ok(calls.sum())
}

fn cases(line: &Value) -> u64 {
    let interactions = line["ScenarioFinished"]["recorder"]["interactions"].as_object();
    interactions.map_or(0, |i| i.len() as u64)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_as_the_document_says() -> Result<()> {
    let world = World::new().await?;
    let examples = (requests() / OPERATIONS).max(1).to_string();
    let signed = world.try_all(Some(&world.scout.token), &["--max-examples", &examples]).await?;
    let unsigned =
        world.try_all(None, &["--max-examples", "2", "--phases", "examples,coverage,fuzzing"]).await?;
    println!("{signed} requests with a token, {unsigned} without");
    ensure!(signed >= requests(), "only {signed} requests");
    ensure!(unsigned >= OPERATIONS, "only {unsigned} requests");
    let me = world.scout.get("/me").await?.expect(200)?;
    ensure!(me["displayName"] == world.scout.display_name, "the agent is still there: {me}");
    world.stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_in_the_document_fits() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let document = reqwest::get(format!("{}/openapi.json", stack.bridge.url())).await?.bytes().await?;
    let file = stack.folder().join("openapi.json");
    std::fs::write(&file, &document)?;
    let python = schemathesis()?.join("bin/python");
    let output = Command::new(python).arg(here().join("examples.py")).arg(&file).output().await?;
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}");
    let checked: u64 = said.trim().parse()?;
    ensure!(checked > 2 * OPERATIONS, "only {checked} examples");
    stack.finish().await
}
