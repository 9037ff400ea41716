//! The scenarios, one a file. Each gives a JSON block; those with a target are read by `targets`.
mod ack;
mod backlog;
mod fanout;
mod idle;
mod ingest;
mod join;
mod manners;
mod mcp;
mod relay;
mod sealed;
mod send;

use anyhow::Result;
use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::{
    clock::{ms_since, now},
    progress,
    stats::{difference, round},
    world::World,
};

/// A scenario, in the order in which they run: crowds and restarts come late, made-up events after the restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Scenario {
    /// Agents join, against floor users that register and join
    Join,
    /// Agents send, by turns with raw sends into the same room
    Send,
    /// One agent sends, another's wait returns
    Relay,
    /// A person speaks to many waiting agents
    Fanout,
    /// Acknowledgements, one at a time and 8 at once
    Ack,
    /// The same in encrypted rooms
    Sealed,
    /// Messages pile up while the bridge is down
    Backlog,
    /// Made-up transactions straight to the bridge
    Ingest,
    /// Many agents wait and nobody speaks
    Idle,
    /// The same by MCP: a tool that does nothing, handshakes, waiting calls
    Mcp,
    /// Presence, receipts and typing of many agents, on and off
    Manners,
}

impl Scenario {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
    }

    /// Whether the homeserver has to have presence for it.
    pub(crate) fn is_about_presence(self) -> bool {
        self == Self::Manners
    }

    async fn run(self, world: &mut World) -> Result<Value> {
        match self {
            Self::Join => join::run(world).await,
            Self::Send => send::run(world).await,
            Self::Relay => relay::run(world).await,
            Self::Fanout => fanout::run(world).await,
            Self::Ack => ack::run(world).await,
            Self::Sealed => sealed::run(world).await,
            Self::Backlog => backlog::run(world).await,
            Self::Ingest => ingest::run(world).await,
            Self::Idle => idle::run(world).await,
            Self::Mcp => mcp::run(world).await,
            Self::Manners => manners::run(world).await,
        }
    }
}

/// Runs them all; one that fails says so in `error`, and the next one runs.
pub(crate) async fn run(world: &mut World, scenarios: &[Scenario]) -> Map<String, Value> {
    let mut report = Map::new();
    for scenario in scenarios {
        progress(format_args!("{} ...", scenario.name()));
        let start = now();
        let mut block =
            scenario.run(world).await.unwrap_or_else(|error| json!({"error": format!("{error:#}")}));
        if let Some(error) = block["error"].as_str() {
            progress(format_args!("{} failed: {error}", scenario.name()));
        }
        block["seconds"] = json!(round(ms_since(start) / 1000.0));
        block["bridgeAfter"] = world.bridge_figures();
        report.insert(scenario.name(), block);
    }
    compare_fan_outs(&mut report);
    report
}

/// The same number of waiters, encrypted and not.
fn compare_fan_outs(report: &mut Map<String, Value>) {
    let of =
        |block: &str, at: &str| report.get(block).and_then(|b| b.pointer(at)).cloned().unwrap_or_default();
    let (sealed, plain) = (of("sealed", "/many/lastMinusRawMs"), of("fanout", "/waiters200/lastMinusRawMs"));
    if let Some(block) = report.get_mut("sealed") {
        block["manyMinusPlainMs"] = difference(&sealed, &plain, "p50");
    }
}
