//! What the bridge is held to: medians, against the raw homeserver in the same run.
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::stats::round;

/// Where a figure has to be.
#[derive(Clone, Copy, Debug)]
enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// One promise: what is measured, where the report has it, and the bound.
struct Target {
    what: &'static str,
    /// A JSON pointer into the report.
    at: &'static str,
    goal: Goal,
    unit: &'static str,
}

/// How a target came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Ok,
    Missed,
    NotMeasured,
}

use Goal::{AtLeast, AtMost};

const TARGETS: &[Target] = &[
    target("send, p50 against a raw PUT", "/send/atOnce1/ratioP50", AtMost(1.05), "x"),
    target("send, p50 minus a raw PUT", "/send/atOnce1/addedMsP50", AtMost(2.0), "ms"),
    target("send, calls that failed", "/send/atOnce1/failed", AtMost(0.0), ""),
    target("one waiter, p50 minus raw", "/fanout/waiters1/lastMinusRawMs/p50", AtMost(3.0), "ms"),
    target("last of 200 waiters, p50 minus raw", "/fanout/waiters200/lastMinusRawMs/p50", AtMost(23.0), "ms"),
    target("fan-out, deliveries missing", "/fanout/missing", AtMost(0.0), ""),
    target("ack alone, p50", "/ack/alone/p50", AtMost(0.5), "ms"),
    target("ack, 8 at once", "/ack/atOnce8/perSecond", AtLeast(5000.0), "/s"),
    target("transaction of 100 events, p99", "/ingest/transactionsOf100/answered/p99", AtMost(5.0), "ms"),
    target(
        "events per CPU second of the bridge",
        "/ingest/transactionsOf100/eventsPerBridgeCpuSecond",
        AtLeast(5000.0),
        "/s",
    ),
    target("idle waiter, memory", "/idle/rssKiBPerWaiter", AtMost(32.0), "KiB"),
    target("1,000 idle waiters, one core", "/idle/bridgeCpuPercent", AtMost(0.5), "%"),
    target("restart with a backlog, answers after", "/backlog/answersAfterSeconds", AtMost(1.0), "s"),
    target("restart with a backlog, all delivered", "/backlog/ratioToFloor", AtMost(1.2), "x"),
    target("restart with a backlog, unaccounted for", "/backlog/unaccounted", AtMost(0.0), ""),
    target("encrypted send, p50 against a raw PUT", "/sealed/send/ratioP50", AtMost(1.10), "x"),
    target("encrypted send, p50 minus a raw PUT", "/sealed/send/addedMsP50", AtMost(4.0), "ms"),
    target("the same against a raw PUT of a device", "/sealed/send/ratioToDeviceP50", AtMost(1.10), "x"),
    target(
        "person to one agent, encrypted, p50 minus raw",
        "/sealed/one/lastMinusRawMs/p50",
        AtMost(4.0),
        "ms",
    ),
    target("encrypted fan-out, p50 minus the plain one", "/sealed/manyMinusPlainMs", AtMost(1.0), "ms"),
    target("first message among many against few, p50", "/sealed/firstMessageRatioP50", AtMost(1.2), "x"),
    // 10,000 in a GB
    target("idle puppet with keys, memory", "/sealed/perPuppet/rssKiB", AtMost(104.8), "KiB"),
    target("idle puppet with keys, open files", "/sealed/perPuppet/openFiles", AtMost(0.1), ""),
    target("encrypted, deliveries missing", "/sealed/many/missing", AtMost(0.0), ""),
    target(
        "encrypted events per CPU second",
        "/sealed/ingest/eventsPerBridgeCpuSecond",
        AtLeast(1500.0),
        "/s",
    ),
    target("private join, p50 against its parts", "/sealed/first/joinRatioP50", AtMost(1.15), "x"),
    target("a push with many puppets' keys, p50", "/sealed/push/ratioP50", AtMost(2.0), "x"),
    target(
        "start with many keys, answers after",
        "/sealed/startWithMany/answersAfterSeconds",
        AtMost(2.0),
        "s",
    ),
    target("start with many keys, sends after", "/sealed/startWithMany/sendsAfterSeconds", AtMost(2.0), "s"),
    target("start with many keys, reads after", "/sealed/startWithMany/readsAfterSeconds", AtMost(2.0), "s"),
    target("MCP, a no-op tool's p50 minus REST's", "/mcp/addedMsP50", AtMost(0.3), "ms"),
    target("MCP, a no-op tool in JSON, p50", "/mcp/json/noOp/p50", AtMost(5.0), "ms"),
    target("MCP, a no-op tool in a stream, p50", "/mcp/stream/noOp/p50", AtMost(5.0), "ms"),
    target("MCP, memory grown by 10,000 handshakes", "/mcp/handshakes/grownKiB", AtMost(1024.0), "KiB"),
    target("MCP, waiting call in JSON, memory", "/mcp/json/rssKiBPerWaitingCall", AtMost(64.0), "KiB"),
    target("MCP, waiting call in a stream, memory", "/mcp/stream/rssKiBPerWaitingCall", AtMost(64.0), "KiB"),
    target(
        "200 agents' presence, receipts, typing: homeserver CPU",
        "/manners/extraPercent/all",
        AtMost(25.0),
        "%",
    ),
    target("answers 429 (any spoils the run)", "/rateLimitedAnswers", AtMost(0.0), ""),
];

const fn target(what: &'static str, at: &'static str, goal: Goal, unit: &'static str) -> Target {
    Target { what, at, goal, unit }
}

impl Goal {
    fn is_met(self, measured: f64) -> bool {
        match self {
            AtMost(bound) => measured <= bound,
            AtLeast(bound) => measured >= bound,
        }
    }

    fn text(self, unit: &str) -> String {
        match self {
            AtMost(bound) => format!("<= {bound} {unit}"),
            AtLeast(bound) => format!(">= {bound} {unit}"),
        }
    }
}

impl Target {
    fn judge(&self, report: &Value) -> (Option<f64>, Verdict) {
        let measured = report.pointer(self.at).and_then(Value::as_f64);
        let verdict = match measured {
            None => Verdict::NotMeasured,
            Some(x) if self.goal.is_met(x) => Verdict::Ok,
            Some(_) => Verdict::Missed,
        };
        (measured, verdict)
    }
}

impl Verdict {
    const fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missed => "MISSED",
            Self::NotMeasured => "not measured",
        }
    }
}

/// All targets with what was measured, for the report.
pub(crate) fn judged(report: &Value) -> Value {
    let one = |target: &Target| {
        let (measured, verdict) = target.judge(report);
        json!({"what": target.what, "target": target.goal.text(target.unit).trim(), "measured": measured.map(round),
            "verdict": verdict.text(), "at": target.at})
    };
    TARGETS.iter().map(one).collect()
}

/// Whether every target was measured and met.
pub(crate) fn all_met(report: &Value) -> bool {
    TARGETS.iter().all(|target| target.judge(report).1 == Verdict::Ok)
}

/// The same as a table for people.
pub(crate) fn table(report: &Value) -> String {
    let mut text = format!("{:<42} {:>14} {:>14}  {}\n", "", "target", "measured", "");
    for target in TARGETS {
        let (measured, verdict) = target.judge(report);
        let measured = measured.map_or_else(|| "-".to_owned(), |x| format!("{} {}", round(x), target.unit));
        let goal = target.goal.text(target.unit);
        let _ = writeln!(
            text,
            "{:<42} {:>14} {:>14}  {}",
            target.what,
            goal.trim(),
            measured.trim(),
            verdict.text()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive_and_missing_figures_are_not_met() {
        let judge = |x: Value| TARGETS[0].judge(&json!({"send": {"atOnce1": {"ratioP50": x}}})).1;
        assert_eq!(judge(json!(1.05)), Verdict::Ok);
        assert_eq!(judge(json!(1.051)), Verdict::Missed);
        assert_eq!(judge(Value::Null), Verdict::NotMeasured);
        assert!(!all_met(&json!({})));
    }

    #[test]
    fn a_rate_has_to_be_reached() {
        let judge = |x: f64| TARGETS[7].judge(&json!({"ack": {"atOnce8": {"perSecond": x}}})).1;
        assert_eq!((judge(4999.0), judge(5000.0)), (Verdict::Missed, Verdict::Ok));
    }

    #[test]
    fn the_table_and_the_report_say_the_same() {
        let report = json!({"rateLimitedAnswers": 2});
        let table = table(&report);
        assert_eq!(table.matches("MISSED").count(), 1);
        assert_eq!(table.lines().count(), TARGETS.len() + 1);
        assert_eq!(judged(&report)[TARGETS.len() - 1]["verdict"], "MISSED");
    }
}
