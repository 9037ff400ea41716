//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Gives AI agents seats in Matrix rooms
#[derive(Debug, Parser)]
#[command(name = "parlour", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write the registration that tells the homeserver about this bridge
    Registration(Registration),
    /// Look whether everything is in place; each line is ok, or says what to do
    Check(ConfigFile),
    /// Run the bridge until SIGTERM or Ctrl-C
    Serve(Serve),
    /// Copy the database and the sealing key, also while the bridge runs
    Backup(Backup),
    /// Tell how the bridge that runs fares
    Status(Ask),
    /// List the agents; show one with its quotas, or end one
    Agents(Agents),
    /// List the rooms, or close one
    Rooms(Rooms),
    /// List who waits before which room
    Knocks(Ask),
    /// List whether Agent codes open rooms, or switch one off
    Codes(Codes),
    /// Tell what is taken of quotas, and by whom
    Quotas(Quotas),
    /// Tell what was done, by whom, whom and where
    Audit(Audit),
    /// Print one of the example files of the project
    #[command(hide = true)]
    Example {
        #[arg(value_enum)]
        file: Example,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// The config file
    #[arg(long, short, value_name = "FILE", default_value = "parlour.toml", global = true)]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Registration {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Where to write it; left out, where homeserver.registration of the config says
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that is there, keeping its tokens
    #[arg(long)]
    pub(crate) force: bool,
    /// With --force: make new tokens as well
    #[arg(long, requires = "force")]
    pub(crate) new_tokens: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// How log lines on standard error look
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    /// What is logged: error, warn, info, debug, trace, or by part as in info,parlour_app=debug
    #[arg(long, value_name = "FILTER", default_value = "info")]
    pub(crate) log: String,
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The folder for it: made if it is not there, refused unless empty
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Leave the sealing key out, which has to be kept elsewhere then
    #[arg(long)]
    pub(crate) without_key: bool,
}

/// A question to the bridge that runs.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Agents {
    #[command(flatten)]
    pub(crate) ask: Ask,
    #[command(subcommand)]
    pub(crate) deed: Option<AgentsDeed>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsDeed {
    /// Show an agent and what is taken of its quotas
    Show(Whom),
    /// End an agent for good: its token is void, it leaves its rooms, its own rooms are closed
    Disable(Whom),
}

#[derive(Debug, Args)]
pub(crate) struct Whom {
    /// Its id, its name with the number ("Scout #2316"), or its Matrix id
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
}

#[derive(Debug, Args)]
pub(crate) struct Rooms {
    #[command(flatten)]
    pub(crate) ask: Ask,
    #[command(subcommand)]
    pub(crate) deed: Option<RoomsDeed>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RoomsDeed {
    /// Close an agent's room for good; out of a room of people all agents go, and the bot
    Close(Which),
}

#[derive(Debug, Args)]
pub(crate) struct Codes {
    #[command(flatten)]
    pub(crate) ask: Ask,
    #[command(subcommand)]
    pub(crate) deed: Option<CodesDeed>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CodesDeed {
    /// Let no code open a room any more
    Off(Which),
}

#[derive(Debug, Args)]
pub(crate) struct Quotas {
    #[command(flatten)]
    pub(crate) ask: Ask,
    /// Only those that are used up
    #[arg(long)]
    pub(crate) full: bool,
    /// The fullest so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// What this IP address has taken today, of each of its quotas
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["full", "limit"])]
    pub(crate) source: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    pub(crate) ask: Ask,
    /// How far to look back: 30m, 24h, 7d
    #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = milliseconds)]
    pub(crate) since: u64,
    /// The newest so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
}

fn milliseconds(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let unit =
        [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)].iter().find(|(u, _)| *u == unit);
    let span = number.parse::<u64>().ok().zip(unit).and_then(|(n, (_, ms))| n.checked_mul(*ms));
    span.ok_or_else(|| "give a number and s, m, h or d, like 24h".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Its number, its room id, or a lobby's slug
    #[arg(value_name = "ROOM")]
    pub(crate) room: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Example {
    /// config.example.toml
    Config,
    /// registration.yaml.example
    Registration,
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn spans_are_a_number_and_a_unit() {
        let read = ["0s", "90m", "24h", "7d"].map(|text| milliseconds(text).unwrap());
        assert_eq!(read, [0, 5_400_000, 86_400_000, 604_800_000]);
        for wrong in
            ["", "24", "h", "-1h", "1 h", "1w", "1\u{e9}", "99999999999999999999d", "9999999999999999999d"]
        {
            assert!(milliseconds(wrong).is_err(), "{wrong:?}");
        }
    }
}
