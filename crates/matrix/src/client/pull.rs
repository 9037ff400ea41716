//! Pulling what waits for a device, where it is not pushed or was missed.

use http::Method;
use serde_json::value::RawValue;

use super::{AsDevice, Client, HsError, SLOW, request::V3};
use crate::{
    crypto::{
        DeviceNews,
        parcels::{changed, key_counts},
    },
    json::{Fields, owned_object},
};

/// Nothing of rooms, presence or account data: only what is for the device itself.
const FILTER: &str = r#"{"room":{"rooms":[],"timeline":{"limit":0},"include_leave":false},"presence":{"types":[]},"account_data":{"types":[]}}"#;

/// What waited for a device.
#[derive(Clone, Debug)]
pub struct Pulled {
    pub news: DeviceNews,
    /// Where the next pull goes on. Keep it with the commit of the news: the homeserver deletes what came before it
    /// once it is used.
    pub next_batch: String,
}

impl Client {
    /// One sync as the device, without waiting. Nothing is lost by pulling twice from the same place: messages stay
    /// until a pull goes on from behind them. Pull until no message comes, so that the homeserver forgets them, and
    /// since one answer holds a hundred at the most (Synapse).
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn pull(&self, who: AsDevice<'_>, since: Option<&str>) -> Result<Pulled, HsError> {
        let mut request = self
            .request("pull", Method::GET, V3, &["sync"])
            .of_device(who)
            .query("timeout", "0")
            .query("set_presence", "offline")
            .query("filter", FILTER);
        if let Some(since) = since {
            request = request.query("since", since);
        }
        let raw: Box<RawValue> = request.timeout(SLOW).call().await?;
        read(&raw)
            .ok_or_else(|| HsError::Unknown("a success, but without the next batch of a sync".to_owned()))
    }
}

fn read(raw: &RawValue) -> Option<Pulled> {
    let fields = Fields::of(raw)?;
    let next_batch = fields.str("next_batch")?;
    let messages = fields.object("to_device").and_then(|to_device| to_device.list("events"));
    let unused = fields
        .get("device_unused_fallback_key_types")
        .or_else(|| fields.get("org.matrix.msc2732.device_unused_fallback_key_types"));
    let news = DeviceNews {
        to_device: messages.unwrap_or_default().into_iter().filter_map(owned_object).collect(),
        changed: changed(fields.get("device_lists")),
        counts: key_counts(fields.get("device_one_time_keys_count"), unused),
    };
    Some(Pulled { news, next_batch })
}
