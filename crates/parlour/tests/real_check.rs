//! `registration`, `check` and `serve` beside a real Synapse.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::{
    process::{Child, Stdio},
    time::Duration,
};

use parlour_synapse::{Config, Deadline, Synapse, User, install, shared_venv};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{Place, Run, free_port, get, http};

const LOBBIES: &str = "[[lobby]]\nslug = 'hall'\n[[lobby]]\nslug = 'closet'\n[[lobby]]\nslug = 'plaza'\n";
const ONE_LOBBY: &str = "[{slug = 'lobby', name = 'Lobby'}]";

struct Stage {
    place: Place,
    port: u16,
    metrics: u16,
    synapse: Synapse,
}

/// Killed with its test.
struct Bridge(Child);

impl Drop for Bridge {
    fn drop(&mut self) {
        // Fails only for a child that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    fn set() -> Self {
        install(&shared_venv()).unwrap();
        let [hs_port, port, metrics] = [(); 3].map(|()| free_port());
        let more = format!("{LOBBIES}[metrics]\nlisten = '127.0.0.1:{metrics}'\n");
        let place = Place::listening_on(port, &format!("http://127.0.0.1:{hs_port}"), &more);
        assert_eq!(place.run(&["registration"]).code, Some(0));
        let mut config = Config::new(shared_venv(), place.path("synapse"));
        config.port = hs_port;
        config.registrations.push(place.path("registration.yaml"));
        let synapse = Synapse::start(config).unwrap();
        Self { place, port, metrics, synapse }
    }

    /// With the one lobby only whose alias is free, or with all.
    fn check(&self, lobbies: Option<&str>) -> Run {
        let mut command = self.place.command(&["check"]);
        command.env("PARLOUR__LOBBY", lobbies.unwrap_or_default()).output().unwrap().into()
    }

    fn serve(&self) -> Bridge {
        let mut command = self.place.command(&["serve"]);
        let child =
            command.env("PARLOUR__LOBBY", ONE_LOBBY).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let bridge = Bridge(child.unwrap());
        let ready = || Ok(get(self.port, "/ready").filter(|(status, _)| *status == 200));
        assert!(
            Deadline::after(Duration::from_secs(60)).poll(ready).unwrap().is_some(),
            "{:?}",
            get(self.port, "/ready")
        );
        bridge
    }

    fn make_room(&self, user: &User, room: &Value) {
        let answer = post(self.synapse.port(), "/_matrix/client/v3/createRoom", &user.access_token, room);
        assert_eq!(answer.0, 200, "{}", answer.1);
    }
}

#[test]
fn from_the_registration_to_a_running_bridge() {
    let stage = Stage::set();

    let run = stage.check(Some(ONE_LOBBY));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    run.assert_says("ok  homeserver: ", &[stage.synapse.url(), "v1."]);
    run.assert_says("ok  as_token: ", &["hs.test knows us"]);
    run.assert_says("ok  people.bot: ", &["@parlour:hs.test will be made"]);
    run.assert_says("ok  ping: ", &[&stage.port.to_string()]);
    run.assert_says("ok  lobby: ", &["#lobby:hs.test is free"]);
    run.assert_says("--  devices: ", &["after the first start"]);

    {
        let mut bridge = stage.serve();
        let run = stage.check(Some(ONE_LOBBY));
        assert_eq!(run.code, Some(0), "{}", run.stdout);
        run.assert_says("ok  server.listen: ", &["the parlour that runs"]);
        run.assert_says("ok  people.bot: ", &["is there and ours"]);
        run.assert_says("ok  ping: ", &[]);
        run.assert_says("ok  lobby: ", &["the bot is in it"]);
        run.assert_says("--  feature: ", &["presence: yes"]);
        let probed = || Ok(stage.check(Some(ONE_LOBBY)).stdout.contains("ok  devices: pushed").then_some(()));
        assert!(Deadline::after(Duration::from_secs(60)).poll(probed).unwrap().is_some(), "{}", run.stdout);
        let run = stage.check(Some(ONE_LOBBY));
        run.assert_says("ok  devices: ", &["masqueraded"]);
        ends_while_an_agent_waits(&stage, &mut bridge);
    }

    let alice = stage.synapse.register_user("alice", "a password").unwrap();
    let encryption = json!({"type": "m.room.encryption", "content": {"algorithm": "m.megolm.v1.aes-sha2"}});
    stage.make_room(
        &alice,
        &json!({"preset": "public_chat", "room_alias_name": "hall", "initial_state": [encryption]}),
    );
    stage.make_room(&alice, &json!({"preset": "private_chat", "room_alias_name": "closet"}));
    stage.make_room(&alice, &json!({"preset": "public_chat", "room_alias_name": "plaza"}));
    let run = stage.check(None);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    run.assert_says("!!  lobby: ", &["#hall:hs.test", "encrypted"]);
    run.assert_says("!!  lobby: ", &["#closet:hs.test", "cannot see or enter"]);
    run.assert_says("ok  lobby: ", &["#plaza:hs.test", "will join it"]);

    // The homeserver is another one than the config says.
    let config = stage.place.read("parlour.toml");
    stage.place.write("parlour.toml", &config.replace("hs.test", "other.test"));
    stage.check(Some(ONE_LOBBY)).assert_says("!!  server_name: ", &["hs.test", "other.test"]);
    stage.place.write("parlour.toml", &config);

    // The file changed and the homeserver was not restarted.
    assert_eq!(stage.place.run(&["registration", "--force", "--new-tokens"]).code, Some(0));
    let run = stage.check(Some(ONE_LOBBY));
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    run.assert_says("!!  as_token: ", &["M_UNKNOWN_TOKEN", "restart"]);
}

fn post(port: u16, path: &str, token: &str, body: &Value) -> (u16, String) {
    let (body, bearer) = (body.to_string(), format!("Authorization: Bearer {token}\r\n"));
    let bearer = if token.is_empty() { "" } else { bearer.as_str() };
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{bearer}Content-Type: application/json\r\n");
    let length = body.len();
    http(port, &format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")).unwrap()
}

/// The wait is answered, and the process ends well within its 10 s.
fn ends_while_an_agent_waits(stage: &Stage, bridge: &mut Bridge) {
    let joined = post(stage.port, "/v1/network-agents", "", &json!({"name": "Scout"}));
    assert_eq!(joined.0, 201, "{}", joined.1);
    let joined: Value = serde_json::from_str(&joined.1).unwrap();
    let token = joined["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("parlour_"));
    let port = stage.port;
    let ask = move |wait: u64| {
        let path = format!("/v1/network-agents/me/messages?wait={wait}");
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n");
        http(port, &format!("{head}Connection: close\r\n\r\n"))
    };
    // The first call returns at once.
    assert_eq!(ask(0).map(|(status, _)| status), Some(200));
    let waiting = std::thread::spawn(move || ask(30));
    let waits = || Ok(get(stage.metrics, "/metrics").filter(|(_, text)| waiters(text) == 1.0));
    assert!(Deadline::after(Duration::from_secs(10)).poll(waits).unwrap().is_some(), "nobody waits");
    let pid = Pid::from_raw(i32::try_from(bridge.0.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let ended = Deadline::after(Duration::from_secs(10)).poll(|| Ok(bridge.0.try_wait()?)).unwrap();
    assert_eq!(ended.and_then(|status| status.code()), Some(0));
    let answer = waiting.join().unwrap();
    assert_eq!(answer.as_ref().map(|(status, _)| *status), Some(200), "{answer:?}");
}

fn waiters(metrics: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix("parlour_waiters "));
    line.and_then(|number| number.parse().ok()).unwrap_or(0.0)
}
