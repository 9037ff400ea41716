use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, atomic::Ordering},
};

use parlour_matrix::crypto::Machine;
use tokio::sync::{OwnedMappedMutexGuard, OwnedMutexGuard};

use super::{DeviceError, Slot};
use crate::crypto_rows::CryptoBatch;

/// A machine in somebody's hands. Given back with something that is not on disk, it is opened anew before it is used
/// again.
pub(crate) struct Held {
    pub(crate) slot: Arc<Slot>,
    machine: OwnedMappedMutexGuard<Option<Machine>, Machine>,
    tickets: Vec<u64>,
}

impl Held {
    pub(super) fn new(slot: Arc<Slot>, guard: OwnedMutexGuard<Option<Machine>>) -> Result<Self, DeviceError> {
        let machine = OwnedMutexGuard::try_map(guard, Option::as_mut).map_err(|_| DeviceError::NoDevice)?;
        Ok(Self { slot, machine, tickets: vec![] })
    }

    /// What has to be committed now.
    pub(crate) fn take(&mut self) -> Option<CryptoBatch> {
        let mut writes = self.machine.take_writes();
        self.tickets.push(writes.ticket());
        (!writes.is_empty()).then(|| CryptoBatch::of(&mut writes))
    }

    /// It is on disk.
    pub(crate) fn committed(&mut self) {
        for ticket in std::mem::take(&mut self.tickets) {
            self.machine.committed(ticket);
        }
    }

    /// Its memory may be ahead of the disk, whatever it has written so far: the next to use it opens it anew.
    pub(crate) fn spoil(&self) {
        self.slot.spoiled.store(true, Ordering::Relaxed);
    }
}

impl Deref for Held {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.machine.is_idle() {
            self.spoil();
        }
    }
}
