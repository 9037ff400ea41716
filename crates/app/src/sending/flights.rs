use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use parking_lot::Mutex;
use parlour_domain::{
    fault::Fault,
    ids::{AgentKey, MessageId},
};
use ruma::OwnedEventId;
use tokio::sync::watch;

pub(crate) type FlightKey = (AgentKey, MessageId);

/// How a submission ended.
pub(crate) type Landing = Result<OwnedEventId, Fault>;

/// A submission on its way: whoever asks for it again waits for the same end.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) digest: [u8; 32],
    /// When it was asked for last; how long it is carried on counts from there.
    asked_ms: AtomicI64,
    landing: watch::Sender<Option<Landing>>,
}

/// All submissions on their way.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    under_way: Mutex<HashMap<FlightKey, Arc<Flight>>>,
}

/// The first to ask flies it, all others wait.
pub(crate) enum Boarding {
    Pilot(Arc<Flight>),
    Passenger(Arc<Flight>),
}

impl Flights {
    pub(crate) fn board(&self, key: FlightKey, digest: [u8; 32], now_ms: i64) -> Boarding {
        let mut under_way = self.under_way.lock();
        if let Some(flight) = under_way.get(&key) {
            flight.asked_ms.fetch_max(now_ms, Ordering::Relaxed);
            return Boarding::Passenger(flight.clone());
        }
        let landing = watch::Sender::new(None);
        let flight = Arc::new(Flight { digest, asked_ms: AtomicI64::new(now_ms), landing });
        under_way.insert(key, flight.clone());
        Boarding::Pilot(flight)
    }

    /// It ended: by the homeserver's answer, or by an echo that was faster.
    pub(crate) fn land(&self, key: FlightKey, landing: Landing) {
        if let Some(flight) = self.under_way.lock().remove(&key) {
            flight.landing.send_replace(Some(landing));
        }
    }

    /// Given up for now, with its end unknown: whoever asks next takes it up again.
    pub(crate) fn abandon(&self, key: FlightKey) {
        self.under_way.lock().remove(&key);
    }
}

impl Flight {
    #[must_use]
    pub(crate) fn asked_ms(&self) -> i64 {
        self.asked_ms.load(Ordering::Relaxed)
    }

    #[must_use]
    pub(crate) fn has_landed(&self) -> bool {
        self.landing.borrow().is_some()
    }

    /// Its end, where it has come.
    #[must_use]
    pub(crate) fn landed_by_now(&self) -> Option<Landing> {
        self.landing.borrow().clone()
    }

    /// Waits for its end; `None`: given up for now.
    pub(crate) async fn landed(&self) -> Option<Landing> {
        let mut landing = self.landing.subscribe();
        landing.wait_for(Option::is_some).await.ok()?.clone()
    }
}
