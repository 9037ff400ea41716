//! One real Synapse through its whole life.

// Clippy's exception for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use parlour_synapse::{Config, Deadline, Synapse, free_port, install, shared_venv};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

fn start(data: &Path, change: impl FnOnce(&mut Config)) -> anyhow::Result<Synapse> {
    install(&shared_venv())?;
    let mut config = Config::new(shared_venv(), data);
    change(&mut config);
    Synapse::start(config)
}

#[test]
fn keeps_its_accounts_over_restart_and_kill() {
    let folder = tempfile::tempdir().unwrap();
    let synapse = start(folder.path(), |_| ()).unwrap();
    let ada = synapse.register_user("ada", "first-pw").unwrap();
    assert_eq!(ada.user_id, "@ada:hs.test");
    assert!(synapse.register_user("ada", "first-pw").is_err());
    let (url, pid) = (synapse.url().to_owned(), synapse.pid());

    assert!(synapse.stop().unwrap(), "SIGTERM was not enough");
    assert_eq!(synapse.pid(), None);
    synapse.restart().unwrap();
    assert_eq!(synapse.url(), url);
    assert_ne!(synapse.pid(), pid);
    assert_ne!(synapse.login("ada", "first-pw").unwrap().device_id, ada.device_id);

    synapse.kill();
    assert!(synapse.login("ada", "first-pw").is_err());
    synapse.restart().unwrap();
    synapse.ensure_user("ada", "other-pw").unwrap();
    synapse.login("ada", "first-pw").unwrap();
    assert!(synapse.login("ada", "other-pw").is_err());
}

#[test]
fn holds_still_while_paused_and_can_be_stopped_then() {
    let folder = tempfile::tempdir().unwrap();
    let synapse = start(folder.path(), |_| ()).unwrap();
    synapse.pause().unwrap();
    let answers = || ureq::get(format!("{}/health", synapse.url()));
    let quick = || answers().config().timeout_global(Some(Duration::from_secs(1))).build().call();
    assert!(quick().is_err());
    synapse.resume().unwrap();
    assert_eq!(answers().call().unwrap().status(), 200);
    synapse.pause().unwrap();
    assert!(synapse.stop().unwrap(), "SIGTERM was not enough");
}

#[test]
fn a_start_that_cannot_work_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port().unwrap();
    let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    let error = start(folder.path(), |config| config.port = port).err().unwrap().to_string();
    assert!(error.contains(&format!("port {port} is taken")), "{error}");

    let error = start(folder.path(), |config| {
        config.extra.insert("presence".into(), "neither".into());
    });
    let error = error.err().unwrap().to_string();
    assert!(error.contains("last words"), "{error}");
    assert!(error.contains("presence"), "{error}");
}

#[test]
fn serves_metrics_where_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port().unwrap();
    let _synapse = start(folder.path(), |config| config.metrics_port = Some(port)).unwrap();
    let url = format!("http://127.0.0.1:{port}/_synapse/metrics");
    let text = ureq::get(url).call().unwrap().body_mut().read_to_string().unwrap();
    assert!(text.contains("process_cpu_seconds_total"));
}

/// A started `hold-synapse` and the pid of its Synapse.
fn hold(data: &Path) -> (Child, Pid) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hold-synapse"));
    let mut holder = command.arg(data).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (holder, Pid::from_raw(line.trim().parse().unwrap()).unwrap())
}

fn is_gone_soon(pid: Pid) -> bool {
    let look = || Ok(test_kill_process(pid).is_err().then_some(()));
    Deadline::after(Duration::from_secs(20)).poll(look).unwrap().is_some()
}

#[test]
fn outlives_the_thread_that_started_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_owned();
    let synapse = std::thread::spawn(move || start(&data, |_| ()).unwrap()).join().unwrap();
    synapse.register_user("ada", "first-pw").unwrap();
    assert!(synapse.ended().unwrap().is_none());
}

#[test]
fn dies_with_the_process_that_started_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut holder, synapse) = hold(folder.path());
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(is_gone_soon(synapse));

    // The data is free again, and a stopped Synapse dies too.
    let (mut holder, synapse) = hold(folder.path());
    kill_process(synapse, Signal::STOP).unwrap();
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(is_gone_soon(synapse));
}

#[test]
fn one_synapse_a_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = start(folder.path(), |_| ()).unwrap();
    let error = start(folder.path(), |_| ()).err().unwrap().to_string();
    assert!(error.contains("another Synapse runs on this data folder"), "{error}");
    TcpStream::connect((Ipv4Addr::LOCALHOST, first.port())).unwrap();
}
