//! `registration`, `check` and `serve` beside a real Synapse.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::{
    process::{Child, Stdio},
    time::Duration,
};

use parlour_synapse::{Config, Deadline, Synapse, User, install, shared_venv};
use serde_json::{Value, json};
use support::{Place, Run, free_port, get, http};

const LOBBIES: &str = "[[lobby]]\nslug = 'hall'\n[[lobby]]\nslug = 'closet'\n[[lobby]]\nslug = 'plaza'\n";
const ONE_LOBBY: &str = "[{slug = 'lobby', name = 'Lobby'}]";

struct Stage {
    place: Place,
    port: u16,
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
        let (hs_port, port) = (free_port(), free_port());
        let place = Place::listening_on(port, &format!("http://127.0.0.1:{hs_port}"), LOBBIES);
        assert_eq!(place.run(&["registration"]).code, Some(0));
        let mut config = Config::new(shared_venv(), place.path("synapse"));
        config.port = hs_port;
        config.registrations.push(place.path("registration.yaml"));
        let synapse = Synapse::start(config).unwrap();
        Self { place, port, synapse }
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
        let body = room.to_string();
        let request = format!(
            "POST /_matrix/client/v3/createRoom HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            user.access_token,
            body.len(),
        );
        let answer = http(self.synapse.port(), &request).unwrap();
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

    {
        let _bridge = stage.serve();
        let run = stage.check(Some(ONE_LOBBY));
        assert_eq!(run.code, Some(0), "{}", run.stdout);
        run.assert_says("ok  server.listen: ", &["the parlour that runs"]);
        run.assert_says("ok  people.bot: ", &["is there and ours"]);
        run.assert_says("ok  ping: ", &[]);
        run.assert_says("ok  lobby: ", &["the bot is in it"]);
        run.assert_says("--  feature: ", &["presence: yes"]);
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
