//! The key that turns addresses into what quotas count by: a new one each UTC day, kept over restarts.

use std::sync::Arc;

use parking_lot::Mutex;
use parlour_domain::{
    quota::utc_day,
    source::{DayKey, Source as Address},
};
use parlour_store::{Store, StoreError};

use crate::{app::App, request::Source};

const META: &str = "source_day_key";

/// Today's key.
#[derive(Debug, Default)]
pub(crate) struct DayKeys {
    today: Mutex<Option<(i64, DayKey)>>,
}

impl DayKeys {
    pub(crate) async fn read(store: &Store) -> Result<Self, StoreError> {
        let kept = store.read(|r| r.meta(META)).await?;
        Ok(Self { today: Mutex::new(kept.as_deref().and_then(parse)) })
    }
}

impl App {
    /// What quotas count a source by today.
    pub fn source(self: &Arc<Self>, address: Address) -> Source {
        let day = utc_day(self.now());
        let mut today = self.day_keys.today.lock();
        let key = match *today {
            Some((of, key)) if of == day => key,
            _ => {
                let key = self.chance.bytes();
                *today = Some((day, key));
                self.keep_day_key(day, key);
                key
            }
        };
        Source(address.key(&key))
    }

    /// In the background: lost, a restart the same day counts sources anew, and no more.
    fn keep_day_key(self: &Arc<Self>, day: i64, key: DayKey) {
        let store = self.store.clone();
        self.tasks.spawn(async move {
            let value = [&day.to_le_bytes()[..], &key].concat();
            if let Err(error) = store.write(move |tx| tx.set_meta(META, &value)).await {
                tracing::warn!(%error, "cannot keep the key that sources are counted by");
            }
        });
    }
}

fn parse(value: &[u8]) -> Option<(i64, DayKey)> {
    let (day, key) = value.split_first_chunk()?;
    Some((i64::from_le_bytes(*day), key.try_into().ok()?))
}
