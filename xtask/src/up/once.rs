//! What a newcomer does with what `up` prints, done once: the lines are pasted into a shell, and the person answers.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use parlour_synapse::{Deadline, Synapse};
use serde_json::{Value, json};
use ureq::Agent;

use super::files::{Files, LOBBY, SERVER_NAME};
use super::welcome::{GREETING, Lines};
use super::{PERSON, bridge::agent};

/// From pasting to the words in the room, on a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(60);

const ANSWER: &str = "Hello, I am the person.";

/// An agent says hello, the person sees it under its name and answers, and the agent is given that answer.
pub(super) fn converse(lines: &Lines, files: &Files, homeserver: &Synapse) -> Result<()> {
    let person = Person::enter(homeserver, files.password())?;
    let shell =
        paste(&format!("{} && {}; STATUS=$?; rm -f \"$AUTH\"; exit $STATUS", lines.hello, lines.listen))?;
    let greeting = person.sees(GREETING)?;
    let name = person.name_of(&greeting["sender"])?;
    ensure!(name.starts_with("Scout #"), "the agent is shown as {name:?}");
    person.says(ANSWER)?;
    let heard = output(shell)?;
    ensure!(heard.contains(ANSWER), "the agent was not given the person's answer:\n{heard}");
    Ok(())
}

fn paste(line: &str) -> Result<Child> {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("cannot run sh")
}

fn output(mut shell: Child) -> Result<String> {
    let mut text = String::new();
    shell.stdout.take().context("no output")?.read_to_string(&mut text)?;
    ensure!(shell.wait()?.success(), "the pasted lines failed:\n{text}");
    Ok(text)
}

/// The printed account, in the lobby.
struct Person {
    agent: Agent,
    url: String,
    token: String,
    room: String,
    /// What was said before, on an earlier run.
    before: BTreeSet<String>,
}

impl Person {
    fn enter(homeserver: &Synapse, password: &str) -> Result<Self> {
        let user = homeserver.login(PERSON, password)?;
        let url = format!("{}/_matrix/client/v3", homeserver.url());
        let mut person = Self {
            agent: agent(),
            url,
            token: user.access_token,
            room: String::new(),
            before: BTreeSet::new(),
        };
        let joined = person.post(&format!("join/%23{LOBBY}:{SERVER_NAME}"), &json!({}))?;
        person.room = joined["room_id"].as_str().context("no room_id")?.to_owned();
        person.before = person.newest()?.iter().map(id_of).collect();
        Ok(person)
    }

    /// Waits for a message with these words.
    fn sees(&self, words: &str) -> Result<Value> {
        let seen = Deadline::after(PATIENCE).poll(|| {
            let mut new = self.newest()?.into_iter().filter(|event| !self.before.contains(&id_of(event)));
            Ok(new.find(|event| event["content"]["body"] == words))
        })?;
        seen.with_context(|| format!("{words:?} is not to be seen in the lobby"))
    }

    fn newest(&self) -> Result<Vec<Value>> {
        let page = self.get(&format!("rooms/{}/messages?dir=b&limit=20", self.room))?;
        Ok(page["chunk"].as_array().cloned().unwrap_or_default())
    }

    /// What a member is called in the room.
    fn name_of(&self, user: &Value) -> Result<String> {
        let user = user.as_str().context("no sender")?;
        let member = self.get(&format!("rooms/{}/state/m.room.member/{user}", self.room))?;
        Ok(member["displayname"].as_str().unwrap_or_default().to_owned())
    }

    fn says(&self, words: &str) -> Result<()> {
        let request = self.agent.put(format!("{}/rooms/{}/send/m.room.message/once", self.url, self.room));
        let content = json!({"msgtype": "m.text", "body": words});
        body(request.header("Authorization", self.bearer()).send_json(content)?).map(drop)
    }

    fn post(&self, path: &str, content: &Value) -> Result<Value> {
        let request = self.agent.post(format!("{}/{path}", self.url));
        body(request.header("Authorization", self.bearer()).send_json(content)?)
    }

    fn get(&self, path: &str) -> Result<Value> {
        let request = self.agent.get(format!("{}/{path}", self.url));
        body(request.header("Authorization", self.bearer()).call()?)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

fn id_of(event: &Value) -> String {
    event["event_id"].as_str().unwrap_or_default().to_owned()
}

fn body(mut answer: ureq::http::Response<ureq::Body>) -> Result<Value> {
    let body: Value = answer.body_mut().read_json()?;
    if answer.status() != 200 {
        bail!("{} {} {}", answer.status(), body["errcode"], body["error"]);
    }
    Ok(body)
}
