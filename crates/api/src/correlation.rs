//! The id by which a caller and a log line speak of the same request (wire contract, section 1).

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use parlour_app::runtime::{Chance, Clock, SystemChance, SystemClock};
use uuid::Uuid;

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-correlation-id");

/// A UUID, so that nothing a caller writes into the header can forge a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CorrelationId(pub(crate) Uuid);

/// Makes ids for requests that bring none.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) chance: Arc<dyn Chance>,
}

impl Source {
    /// From the system's clock and chance.
    pub(crate) fn system() -> Self {
        Self { clock: Arc::new(SystemClock), chance: Arc::new(SystemChance) }
    }

    /// The request's own id if it is a UUID in its hyphenated form, else a new one of version 7.
    pub(crate) fn id_for(&self, headers: &HeaderMap) -> CorrelationId {
        headers.get(HEADER).and_then(given).unwrap_or_else(|| self.fresh())
    }

    pub(crate) fn fresh(&self) -> CorrelationId {
        let ms = u64::try_from(self.clock.now_ms()).unwrap_or(0);
        CorrelationId(uuid::Builder::from_unix_timestamp_millis(ms, &self.chance.bytes()).into_uuid())
    }
}

fn given(value: &HeaderValue) -> Option<CorrelationId> {
    let text = value.to_str().ok()?;
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten().map(CorrelationId)
}

impl CorrelationId {
    pub(crate) fn text(self) -> String {
        self.0.to_string()
    }

    pub(crate) fn header(self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.text()).ok()
    }
}
