//! The thread that starts processes.
//!
//! `PR_SET_PDEATHSIG` (see `run.py`) follows the parent's *thread*. Test threads end with their test and those of a
//! blocking pool after seconds of idleness, long before the process, and a Synapse started there would die with
//! them. So one thread, which lives as long as this process, starts them all.

use std::io::{Error, Result};
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};

struct Order {
    command: Command,
    answer: Sender<Result<Child>>,
}

static ORDERS: OnceLock<Sender<Order>> = OnceLock::new();

/// Like [`Command::spawn`], but the child's parent thread lives until this process ends.
pub(crate) fn spawn(command: Command) -> Result<Child> {
    let gone = || Error::other("the thread that starts processes is gone");
    let (answer, child) = channel();
    orders()?.send(Order { command, answer }).map_err(|_| gone())?;
    child.recv().map_err(|_| gone())?
}

fn orders() -> Result<Sender<Order>> {
    if let Some(orders) = ORDERS.get() {
        return Ok(orders.clone());
    }
    let (orders, inbox) = channel();
    std::thread::Builder::new().name("nursery".into()).spawn(move || serve(&inbox))?;
    // If another thread was first, its nursery serves both and ours ends, having started nothing.
    Ok(ORDERS.get_or_init(|| orders).clone())
}

fn serve(inbox: &Receiver<Order>) {
    for mut order in inbox {
        // The receiver waits for exactly this answer; if it is gone, dropping the child is all that is left.
        let _ = order.answer.send(order.command.spawn());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_what_it_is_told_and_passes_errors_on() {
        let mut child = spawn(Command::new("true")).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(spawn(Command::new("/nowhere/at/all")).is_err());
    }
}
