//! How much of everything a run does.

/// Numbers of calls, agents and events. The defaults are what the targets speak of.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Sizes {
    /// Joins at each concurrency, on each side
    #[arg(long, default_value_t = 30)]
    pub(crate) joins: usize,
    /// Sends on each side, at each concurrency
    #[arg(long, default_value_t = 200)]
    pub(crate) sends: usize,
    /// Messages from one agent to another
    #[arg(long, default_value_t = 60)]
    pub(crate) relays: usize,
    /// Numbers of waiting agents that one message goes to
    #[arg(long, value_delimiter = ',', default_value = "1,10,50,200")]
    pub(crate) fanout: Vec<usize>,
    /// Messages at each of these numbers
    #[arg(long, default_value_t = 40)]
    pub(crate) fanout_events: usize,
    /// Messages that each of the acknowledging agents has before it (the inbox keeps 500)
    #[arg(long, default_value_t = 400)]
    pub(crate) acks: usize,
    /// Messages that pile up while the bridge is down
    #[arg(long, default_value_t = 2000)]
    pub(crate) backlog: usize,
    /// Events straight to the bridge's appservice port
    #[arg(long, default_value_t = 30_000)]
    pub(crate) ingest: usize,
    /// Agents that wait while nothing happens
    #[arg(long, default_value_t = 1000)]
    pub(crate) idle: usize,
    /// Seconds that they wait
    #[arg(long, default_value_t = 60)]
    pub(crate) idle_seconds: u64,
    /// Agents besides the owner in the encrypted room
    #[arg(long, default_value_t = 200)]
    pub(crate) sealed_fanout: usize,
    /// Encrypted events straight to the bridge's appservice port
    #[arg(long, default_value_t = 6000)]
    pub(crate) sealed_ingest: usize,
    /// Agents that wait while a person speaks, with presence, receipts and typing on and off
    #[arg(long, default_value_t = 200)]
    pub(crate) manners: usize,
    /// Seconds that each of them is measured
    #[arg(long, default_value_t = 60)]
    pub(crate) manners_seconds: u64,
    /// How often each of them is measured
    #[arg(long, default_value_t = 1)]
    pub(crate) manners_rounds: u64,
    /// A short run to try the harness: the numbers above are not looked at, and the figures mean little
    #[arg(long)]
    pub(crate) quick: bool,
}

impl Sizes {
    /// The numbers to go by: the given ones, or small ones for a quick run.
    pub(crate) fn settled(self) -> Self {
        if !self.quick {
            return self;
        }
        Self {
            joins: 6,
            sends: 24,
            relays: 10,
            fanout: vec![1, 10],
            fanout_events: 8,
            acks: 40,
            backlog: 100,
            ingest: 3000,
            idle: 40,
            idle_seconds: 5,
            sealed_fanout: 5,
            sealed_ingest: 300,
            manners: 10,
            manners_seconds: 5,
            manners_rounds: 1,
            quick: true,
        }
    }

    /// Open files that a run needs: a poll and an acknowledgement per waiter, and room for the rest.
    pub(crate) fn open_files(&self) -> u64 {
        let waiters =
            self.fanout.iter().copied().max().unwrap_or_default().max(self.idle).max(self.sealed_fanout);
        2 * waiters as u64 + 256
    }
}
