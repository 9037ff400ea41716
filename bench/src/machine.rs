//! What the machine says: memory and CPU of a process, how busy it all is, how many files may be open.
use anyhow::{Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use serde_json::{Value, json};

/// Resident memory in KiB, CPU seconds so far, open files and threads of one process; its children are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Process {
    #[serde(rename = "rssKiB")]
    pub(crate) rss_kib: u64,
    pub(crate) cpu_seconds: f64,
    pub(crate) open_files: usize,
    pub(crate) threads: u64,
}

/// The figures of `pid` from /proc; none where there is no pid or it is gone.
pub(crate) fn process(pid: Option<u32>) -> Option<Process> {
    let pid = pid?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let open_files = std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    let (rss_kib, threads) = (number_after(&status, "VmRSS:"), number_after(&status, "Threads:"));
    Some(Process { rss_kib, cpu_seconds: cpu_seconds(Some(pid))?, open_files, threads })
}

/// Whether `pid` is there and has not ended. One that ended and that nobody has waited for is still listed, as a zombie.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// CPU seconds (user and system) of `pid` so far, in steps of 10 ms.
pub(crate) fn cpu_seconds(pid: Option<u32>) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid?)).ok()?;
    ticks(&stat).map(|ticks| ticks / 100.0)
}

/// utime + stime. The name before them, in brackets, may hold blanks and brackets of its own (proc(5)).
fn ticks(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    Some(user + fields.next()?.parse::<f64>().ok()?)
}

fn number_after(status: &str, key: &str) -> u64 {
    let line = status.lines().find_map(|l| l.strip_prefix(key));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// CPU seconds that one or more processes used since the meter was started.
#[derive(Clone, Copy)]
pub(crate) struct Meter {
    pid: Option<u32>,
    start: Option<f64>,
}

impl Meter {
    pub(crate) fn start(pid: Option<u32>) -> Self {
        Self { pid, start: cpu_seconds(pid) }
    }

    /// Seconds of CPU since the start; none without a pid, or when the process is gone.
    pub(crate) fn seconds(&self) -> Option<f64> {
        Some(cpu_seconds(self.pid)? - self.start?)
    }
}

/// The load average and the CPU's counters, to judge afterwards how noisy a run was.
pub(crate) fn load() -> Value {
    let average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    json!({"loadAverage": average.trim(), "cpuJiffies": stat.lines().next().unwrap_or_default()})
}

/// Raises the soft limit on open files as far as it may go; children inherit it. Refuses a run that cannot fit.
pub(crate) fn raise_open_files(needed: u64) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    // no limit at all is written as None
    let current = if raised.is_ok() { limit.maximum } else { limit.current };
    if current.is_some_and(|n| n < needed) {
        bail!(
            "only {} open files are allowed and this run needs {needed}: raise `ulimit -n`, or lower --idle and --fanout",
            current.unwrap_or_default()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

    use super::*;

    #[test]
    fn cpu_time_is_read_behind_an_odd_name() {
        let stat = "7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0";
        assert_eq!(ticks(stat), Some(200.0));
        assert_eq!(ticks("nonsense"), None);
    }

    #[test]
    fn this_process_has_figures_and_a_missing_one_has_none() {
        let me = process(Some(std::process::id())).unwrap();
        assert!(me.rss_kib > 0 && me.threads > 0 && me.open_files > 0);
        assert_eq!(process(None), None);
        assert_eq!(process(Some(u32::MAX)), None);
    }

    #[test]
    fn a_zombie_does_not_run() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(is_running(child.id()));
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        // waits for the end and leaves the zombie for the last line
        waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        assert!(!is_running(child.id()));
        child.wait().unwrap();
        assert!(!is_running(child.id()));
    }

    #[test]
    fn a_run_that_needs_more_files_than_allowed_is_refused() {
        raise_open_files(16).unwrap();
        if getrlimit(Resource::Nofile).maximum.is_some() {
            let error = raise_open_files(u64::MAX).unwrap_err().to_string();
            assert!(error.contains("ulimit -n"), "{error}");
        }
    }
}
