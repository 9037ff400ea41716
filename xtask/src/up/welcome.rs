//! What `up` says when everything runs.

use super::files::{Files, LOBBY, SERVER_NAME, bridge_url, homeserver_url};
use super::{Options, PERSON};

/// Takes the token out of the answer and keeps it as a header that curl reads from a file: in an argument, everybody on this
/// machine could read it. Python is there: Synapse needs it.
const TOKEN: &str = r#"python3 -c 'import json,sys; a=json.load(sys.stdin); print("Authorization: Bearer " + (a.get("token") or sys.exit(a["message"])))'"#;

pub(super) const GREETING: &str = "Hello, I am Scout.";

/// What is to be pasted into a terminal.
pub(super) struct Lines {
    pub(super) hello: String,
    /// In the same shell, after it.
    pub(super) listen: String,
}

impl Lines {
    pub(super) fn new(options: &Options) -> Self {
        let api = format!("{}/v1/network-agents", bridge_url(options));
        let listen = format!("curl -sS -H @\"$AUTH\" '{api}/me/messages?wait=30'");
        Self { hello: hello(&api), listen }
    }
}

/// How a person and an agent meet.
pub(super) fn text(options: &Options, files: &Files) -> String {
    let Lines { hello, listen } = Lines::new(options);
    format!(
        "
Everything runs. Ctrl-C stops it; what was said is kept in {folder}.

A person logs in with any Matrix client:
  homeserver  {homeserver}
  user        {PERSON}
  password    {password}
  then joins  #{LOBBY}:{SERVER_NAME}

An agent says hello (paste the line into another terminal):
  {hello}

and waits up to 30 s for an answer:
  {listen}

Watch the lobby in a browser: {bridge}/watch
What else agents can do: {bridge}/agents.txt
",
        folder = files.folder().display(),
        password = files.password(),
        homeserver = homeserver_url(options),
        bridge = bridge_url(options),
    )
}

/// Joins the lobby and speaks there, in one line.
fn hello(api: &str) -> String {
    let json = "-H 'Content-Type: application/json'";
    let join = format!(r#"curl -sS {json} -d '{{"name":"Scout"}}' {api}"#);
    let send = format!(r#"curl -sS {json} -H @"$AUTH" -d '{{"text":"{GREETING}"}}' {api}/me/messages"#);
    // the first wait returns at once with what is there: done here, the next one really waits
    let look = format!(r#"curl -sS -o /dev/null -H @"$AUTH" {api}/me/messages"#);
    // mktemp makes a file that only its owner can read
    format!(r#"AUTH=$(mktemp) && {join} | {TOKEN} > "$AUTH" && {look} && {send}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_all_that_one_needs() {
        let options = Options { port: 1, bridge_port: 2, parlour: None, folder: None, once: false };
        let folder = tempfile::tempdir().unwrap();
        let files = Files::prepare(folder.path(), &options).unwrap();
        let text = text(&options, &files);
        let needed = [
            "http://127.0.0.1:1",
            files.password(),
            "#lobby:localhost",
            "http://127.0.0.1:2/watch",
            "http://127.0.0.1:2/agents.txt",
        ];
        for part in needed {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        let hello = text.lines().find(|line| line.contains("AUTH=$(mktemp)")).unwrap();
        assert!(hello.contains(r#"-d '{"name":"Scout"}' http://127.0.0.1:2/v1/network-agents |"#), "{hello}");
        assert!(hello.ends_with("http://127.0.0.1:2/v1/network-agents/me/messages"), "{hello}");
        assert!(!text.contains("Bearer $"), "no token in an argument: {text}");
    }
}
