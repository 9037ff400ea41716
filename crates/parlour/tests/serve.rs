//! `parlour serve` as a process: what it answers while the homeserver is in trouble, and how it ends.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "support/fake.rs"]
mod fake;
mod support;

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpStream},
    os::unix::fs::PermissionsExt as _,
    process::{Child, ExitStatus, Stdio},
    time::Duration,
};

use fake::{Fake, error};
use parlour_synapse::Deadline;
use rustix::process::{Pid, Signal, kill_process};
use support::{Place, free_port, get, http};
use wiremock::ResponseTemplate;

/// A `parlour serve` that is killed with its test.
struct Serve {
    child: Child,
    port: u16,
    place: Place,
}

impl Serve {
    fn start(url: &str, more: &str, args: &[&str]) -> Self {
        let port = free_port();
        let place = Place::listening_on(port, url, more);
        assert_eq!(place.run(&["registration"]).code, Some(0));
        let args: Vec<&str> = ["serve"].iter().chain(args).copied().collect();
        let child = place.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        Self { child, port, place }
    }

    /// Waits until `/ready` says why not, with all of `parts`.
    fn not_ready(&self, parts: &[&str]) {
        let mut last = None;
        let found = Deadline::after(Duration::from_secs(30)).poll(|| {
            last = get(self.port, "/ready");
            let fits = |(status, body): &(u16, String)| {
                *status == 503 && parts.iter().all(|part| body.contains(part))
            };
            Ok(last.as_ref().is_some_and(fits).then_some(()))
        });
        assert!(found.unwrap().is_some(), "{parts:?} are not in {last:?}");
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    fn ended(&mut self) -> ExitStatus {
        let ended = Deadline::after(Duration::from_secs(10)).poll(|| Ok(self.child.try_wait()?));
        ended.unwrap().expect("it ends within 10 s")
    }

    fn log(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // Fails only for a child that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_homeserver_that_is_down_is_waited_for_and_sigterm_ends_it() {
    let url = format!("http://127.0.0.1:{}", free_port());
    let mut serve = Serve::start(&url, "", &["--log-format", "json"]);
    serve.not_ready(&["homeserver.url"]);
    assert_eq!(get(serve.port, "/health").map(|(status, _)| status), Some(200));
    serve.signal(Signal::TERM);
    assert_eq!(serve.ended().code(), Some(0));
    let log = serve.log();
    assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
    assert!(log.contains("SIGTERM") && !log.contains("Bearer"), "{log}");
}

#[test]
fn an_address_that_a_stranger_forwards_is_warned_of_once() {
    let mut serve = Serve::start("http://127.0.0.1:9", "", &[]);
    serve.not_ready(&[]);
    for _ in 0..3 {
        let body = r#"{"name": "Scout"}"#;
        let head = "POST /v1/network-agents HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: 10.0.0.1";
        let more = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
        http(serve.port, &format!("{head}\r\n{more}\r\n\r\n{body}")).unwrap();
    }
    serve.signal(Signal::TERM);
    serve.ended();
    let log = serve.log();
    assert_eq!(log.matches("trusted_proxies").count(), 1, "{log}");
    assert!(!log.contains("10.0.0.1"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_page_instead_of_a_homeserver() {
    let fake = Fake::always(ResponseTemplate::new(200).set_body_raw("<html>", "text/html")).await;
    let mut serve = Serve::start(&fake.url(), "", &[]);
    serve.not_ready(&["homeserver.url"]);
    serve.signal(Signal::INT);
    assert_eq!(serve.ended().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_homeserver_that_does_not_know_the_token() {
    let fake = Fake::good().await;
    fake.instead(fake::ping(), error(401, "M_UNKNOWN_TOKEN")).await;
    Serve::start(&fake.url(), "", &[]).not_ready(&["M_UNKNOWN_TOKEN"]);
}

#[test]
fn the_homeservers_calls_need_the_token_and_the_public_has_its_routes() {
    let serve = Serve::start("http://127.0.0.1:9", "", &[]);
    serve.not_ready(&[]);
    assert_eq!(get(serve.port, "/agents.txt").map(|(status, _)| status), Some(200));
    let users = get(serve.port, "/_matrix/app/v1/users/@parlour:hs.test").unwrap();
    assert!(users.0 == 401 && users.1.contains("errcode"), "{users:?}");
    let unknown = get(serve.port, "/nowhere").unwrap();
    assert!(unknown.0 == 404 && unknown.1.contains("http.route_not_found"), "{unknown:?}");
}

#[test]
fn metrics_have_their_own_address() {
    let metrics = free_port();
    let serve =
        Serve::start("http://127.0.0.1:9", &format!("[metrics]\nlisten = '127.0.0.1:{metrics}'\n"), &[]);
    serve.not_ready(&["homeserver.url"]);
    let (status, text) = get(metrics, "/metrics").unwrap();
    assert!(status == 200 && text.contains("parlour_homeserver_calls_total"), "{text}");
    assert_eq!(get(serve.port, "/metrics").map(|(status, _)| status), Some(404));
}

#[test]
fn a_second_one_on_the_same_data_names_the_lock() {
    let serve = Serve::start("http://127.0.0.1:9", "", &[]);
    serve.not_ready(&[]);
    let mut second = serve.place.command(&["serve"]).stderr(Stdio::piped()).spawn().unwrap();
    let ended = Deadline::after(Duration::from_secs(5)).poll(|| Ok(second.try_wait()?)).unwrap();
    let _ = second.kill();
    assert_eq!(ended.and_then(|status| status.code()), Some(1), "it ends within 5 s");
    let mut told = String::new();
    second.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("parlour: ") && last.contains("parlour.lock"), "{told}");
}

#[test]
fn commands_talk_to_the_one_that_runs_and_to_no_other() {
    let mut serve = Serve::start("http://127.0.0.1:9", "", &[]);
    serve.not_ready(&["homeserver.url"]);
    let socket = serve.place.path("data/parlour.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let told = serve.place.run(&["status"]);
    told.assert_fails_with(&["not ready", "homeserver.url"]);
    told.assert_says("parlour ", &[&serve.child.id().to_string(), "not ready"]);
    let told = serve.place.run(&["status", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&told["ready"], &told["agents"]), (&false.into(), &0.into()), "{told}");

    serve.signal(Signal::KILL);
    serve.ended();
    assert!(socket.exists(), "what was killed cannot tidy up");
    serve.place.run(&["status"]).assert_fails_with(&["no bridge runs", "data"]);
    let mut again = serve.place.command(&["serve", "--log", "error"]).spawn().unwrap();
    let answers = || Ok((!serve.place.run(&["status"]).stdout.is_empty()).then_some(()));
    let answers = Deadline::after(Duration::from_secs(30)).poll(answers);
    let _ = (again.kill(), again.wait());
    assert!(answers.unwrap().is_some(), "the socket that was left over is in the way");
}

#[test]
fn a_bridge_that_hangs_is_not_waited_for_long() {
    let serve = Serve::start("http://127.0.0.1:9", "", &[]);
    serve.not_ready(&[]);
    serve.signal(Signal::STOP);
    serve.place.run(&["status"]).assert_fails_with(&["no answer within 10 seconds"]);
    serve.signal(Signal::CONT);
    serve.place.run(&["status"]).assert_fails_with(&["not ready"]);
}

#[cfg(target_os = "linux")]
#[test]
fn waiting_agents_find_file_descriptors() {
    let serve = Serve::start("http://127.0.0.1:9", "", &[]);
    serve.not_ready(&[]);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", serve.child.id())).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let numbers: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(numbers[0], numbers[1], "soft and hard limit");
}

/// A connection in the middle of a request, which the end waits for. `100 Continue` says that the body is being read.
fn half_a_request(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let head = "POST /v1/network-agents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    stream.write_all(format!("{head}Expect: 100-continue\r\nContent-Length: 9\r\n\r\n").as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    stream
}

#[test]
fn open_connections_do_not_hold_up_the_end() {
    let mut serve = Serve::start("http://127.0.0.1:9", "", &[]);
    serve.not_ready(&[]);
    let _idle = TcpStream::connect((Ipv4Addr::LOCALHOST, serve.port)).unwrap();
    let _half = half_a_request(serve.port);
    serve.signal(Signal::TERM);
    assert_eq!(serve.ended().code(), Some(0));
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut serve = Serve::start("http://127.0.0.1:9", "", &[]);
    serve.not_ready(&[]);
    let _half = half_a_request(serve.port);
    serve.signal(Signal::TERM);
    let closed = || Ok(TcpStream::connect((Ipv4Addr::LOCALHOST, serve.port)).is_err().then_some(()));
    assert!(Deadline::after(Duration::from_secs(10)).poll(closed).unwrap().is_some());
    serve.signal(Signal::TERM);
    assert_eq!(serve.ended().code(), Some(1));
    assert!(serve.log().lines().last().is_some_and(|line| line.starts_with("parlour: told twice to stop")));
}
