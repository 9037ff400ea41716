//! The operator at the command line, beside a bridge that runs: who is here, and how one ends what should not be.
#![allow(clippy::disallowed_methods, reason = "a story runs in real time beside real processes")]

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Person, Plan, Stack, encode};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::block_in_place;

mod common;
use common::text;

/// `parlour ...` as it is typed. No token or code is in what it prints.
fn parlour(stack: &Stack, words: &[&str], secrets: &[&str]) -> Result<String> {
    let told = block_in_place(|| stack.bridge.command(words));
    let said = match &told {
        Ok(said) => said.clone(),
        Err(error) => error.to_string(),
    };
    ensure!(!secrets.iter().any(|secret| said.contains(secret)), "{words:?} tells a secret");
    told
}

fn parlour_json(stack: &Stack, words: &[&str], secrets: &[&str]) -> Result<Value> {
    let said = parlour(stack, &[words, &["--json"]].concat(), secrets)?;
    let answer: Value = serde_json::from_str(&said)?;
    ensure!(answer["schemaVersion"] == 1, "{answer}");
    Ok(answer)
}

fn find<'a>(list: &'a Value, key: &str, value: &str) -> Result<&'a Value> {
    let found = list.as_array().into_iter().flatten().find(|item| item[key] == value);
    found.with_context(|| format!("no {key} {value} in {list}"))
}

async fn membership(person: &Person, room: &str, user: &str) -> Result<String> {
    let path = format!("/rooms/{}/state/m.room.member/{}", encode(room), encode(user));
    Ok(text(&person.call(Method::GET, &path, None).await?.body["membership"]).to_owned())
}

async fn make_room(owner: &Agent) -> Result<(String, String, String)> {
    let made =
        owner.call(Method::POST, "/me/private-rooms", Some(&json!({"name": "Den"}))).await?.expect(201)?;
    let of = |value: &Value| text(value).to_owned();
    Ok((of(&made["room"]["matrixRoomId"]), of(&made["room"]["catalogId"]), of(&made["code"]["code"])))
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_ends_and_closes() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let (owner, scout) = (stack.agent("Owner", None).await?, stack.agent("Scout", None).await?);
    let ada = stack.person("ada")?;
    let lobby = ada.join("#lobby:hs.test").await?;
    for agent in [&owner, &scout] {
        agent.settle_in().await?;
    }
    let (den, number, code) = make_room(&owner).await?;
    stack.keep_secret(&code);
    let secrets = [owner.token.as_str(), &scout.token, &code];
    scout.say("something secret enough").await?;

    // who is here, for people and for machines
    let table = parlour(&stack, &["agents"], &secrets)?;
    ensure!(table.lines().count() == 3 && table.contains(&scout.display_name), "{table}");
    let agents = parlour_json(&stack, &["agents"], &secrets)?;
    let listed = find(&agents["agents"], "displayName", &scout.display_name)?;
    let puppet = text(&listed["matrixUserId"]).to_owned();
    ensure!(listed["agentId"] == scout.agent_id && listed["rooms"][0]["matrixRoomId"] == lobby, "{listed}");
    let shown = parlour_json(&stack, &["agents", "show", &scout.display_name], &secrets)?;
    let minute = find(&shown["quotas"], "limit", "lobby_messages_per_agent_minute")?;
    ensure!(minute["used"] == 1 && minute["backAtUnixMs"].is_i64(), "{minute}");
    ensure!(parlour(&stack, &["agents", "show", &puppet], &secrets)?.contains("new_rooms_per_agent_day"));
    let rooms = parlour_json(&stack, &["rooms"], &secrets)?;
    ensure!(find(&rooms["rooms"], "kind", "lobby")?["slug"] == "lobby", "{rooms}");
    ensure!(find(&rooms["rooms"], "catalogId", &number)?["owner"] == owner.display_name, "{rooms}");

    ensure!(parlour(&stack, &["rooms"], &secrets)?.contains(&number));

    // a knock, and the code that would have spared it
    scout.call(Method::POST, "/me/rooms", Some(&json!({"room": number}))).await?.expect(202)?;
    let knocks = parlour_json(&stack, &["knocks"], &secrets)?;
    ensure!(knocks["knocks"][0]["agentId"] == scout.agent_id, "{knocks}");
    ensure!(parlour(&stack, &["knocks"], &secrets)?.contains(&scout.display_name));
    let codes = parlour_json(&stack, &["codes"], &secrets)?;
    ensure!(codes["codes"][0]["on"] == true, "{codes}");
    parlour(&stack, &["codes", "off", &number], &secrets)?;
    ensure!(parlour(&stack, &["codes"], &secrets)?.contains("off"));
    scout
        .call(Method::POST, "/me/rooms", Some(&json!({"code": code})))
        .await?
        .refusal(404, "code_invalid")?;

    // what is taken of quotas, by whom; an address leaves no trace
    let quotas = parlour_json(&stack, &["quotas"], &secrets)?;
    let knocks = find(&quotas["quotas"], "limit", "knocks_per_source_hour")?;
    ensure!(knocks["used"] == 1 && knocks["of"].is_u64() && knocks["backAtUnixMs"].is_i64(), "{knocks}");
    let day = find(&quotas["quotas"], "limit", "lobby_messages_per_agent_day")?;
    ensure!(day["whose"]["agentId"] == scout.agent_id && day["used"] == 1, "{day}");
    let ours = parlour_json(&stack, &["quotas", "--source", "127.0.0.1"], &secrets)?;
    let entries = find(&ours["quotas"], "limit", "lobby_entries_per_source_hour")?;
    ensure!(entries["used"] == 2 && entries["whose"] == knocks["whose"], "{entries} {knocks}");
    let table = parlour(&stack, &["quotas"], &secrets)?;
    ensure!(table.contains(&scout.display_name) && table.contains(text(&knocks["whose"]["tag"])), "{table}");
    ensure!(parlour(&stack, &["quotas", "--full"], &secrets)?.contains("no quota is used up"));
    let elsewhere = "2001:db8:77::77";
    stack.keep_secret(elsewhere);
    let nothing = parlour_json(&stack, &["quotas", "--source", elsewhere], &[elsewhere])?;
    ensure!(find(&nothing["quotas"], "limit", "knocks_per_source_hour")?["used"] == 0, "{nothing}");
    let no_address =
        parlour(&stack, &["quotas", "--source", "example.org"], &secrets).unwrap_err().to_string();
    ensure!(
        no_address.contains("exit status: 1") && no_address.contains("source is no IP address"),
        "{no_address}"
    );

    // an end to an agent
    let gone = parlour(&stack, &["agents", "disable", &scout.display_name], &secrets)?;
    ensure!(gone.contains(&puppet), "{gone}");
    scout.get("/me").await?.refusal(401, "unauthorized")?;
    assert_eq!(membership(&ada, &lobby, &puppet).await?, "leave");
    ensure!(parlour_json(&stack, &["knocks"], &secrets)?["knocks"] == json!([]));
    let again =
        parlour(&stack, &["agents", "disable", &scout.display_name], &secrets).unwrap_err().to_string();
    ensure!(again.contains("exit status: 1") && again.contains("parlour agents lists them"), "{again}");

    // an end to a room, but not to a lobby
    ensure!(parlour(&stack, &["rooms", "close", &den], &secrets)?.contains("Den is closed"));
    let say = json!({"text": "too late", "roomId": den});
    owner.send(&say).await?.refusal(403, "forbidden")?;
    let lobby_stays = parlour(&stack, &["rooms", "close", "lobby"], &secrets).unwrap_err().to_string();
    ensure!(
        lobby_stays.contains("exit status: 1") && lobby_stays.contains("out of the config"),
        "{lobby_stays}"
    );
    owner.say("still here").await?;

    // and what was done, by whom
    let audit = parlour_json(&stack, &["audit", "--since", "1h"], &secrets)?;
    let ended = find(&audit["entries"], "deed", "agent_ended")?;
    ensure!(
        ended["by"] == json!({"kind": "operator"}) && ended["whom"]["agentId"] == scout.agent_id,
        "{ended}"
    );
    let closed = find(&audit["entries"], "deed", "room_closed")?;
    ensure!(closed["by"]["kind"] == "operator" && closed["room"]["matrixRoomId"] == den, "{closed}");
    let made = find(&audit["entries"], "deed", "room_made")?;
    ensure!(made["by"]["agentId"] == owner.agent_id && made["by"]["kind"] == "agent", "{made}");
    let newest = parlour(&stack, &["audit", "--limit", "1"], &secrets)?;
    ensure!(newest.lines().count() == 2 && newest.contains("room_closed"), "{newest}");

    // and nobody to talk to
    stack.bridge.stop().await?;
    for words in
        [&["agents"][..], &["rooms", "close", &number], &["knocks"], &["codes"], &["quotas"], &["audit"]]
    {
        let refusal = parlour(&stack, words, &secrets).unwrap_err().to_string();
        ensure!(refusal.contains("exit status: 1") && refusal.contains("no bridge runs"), "{refusal}");
    }
    stack.finish().await
}
