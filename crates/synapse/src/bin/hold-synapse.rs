//! `hold-synapse DATA`: runs a Synapse, says its pid and waits. The crate's own test kills this process to see that
//! Synapse goes with it.

use std::io::{Write, stdout};

use anyhow::{Context, Result};
use parlour_synapse::{Config, Synapse, install, shared_venv};

fn main() -> Result<()> {
    let data = std::env::args_os().nth(1).context("usage: hold-synapse DATA")?;
    install(&shared_venv())?;
    let synapse = Synapse::start(Config::new(shared_venv(), data))?;
    writeln!(stdout(), "{}", synapse.pid().context("it is gone already")?)?;
    loop {
        std::thread::park();
    }
}
