use parlour_matrix::{HsError, events::SUBMISSION_KEY};
use parlour_store::Saying;
use ruma::{EventId, OwnedEventId};
use serde_json::{Value, value::RawValue};

use crate::{app::App, devices::ciphertext_digest, live::RoomLive};

const PAGE: u32 = 100;
const PAGES: usize = 10;
/// By how much the homeserver's clock may be ahead of or behind ours.
const CLOCKS_APART_MS: i64 = 10 * 60_000;

impl App {
    /// Whether the homeserver has something that it gave no clear answer about.
    pub(super) async fn look_for_saying(
        &self,
        room: &RoomLive,
        saying: &Saying,
    ) -> Result<Option<OwnedEventId>, HsError> {
        let mut from: Option<String> = None;
        for _ in 0..PAGES {
            let bot = &self.settings.bot;
            let page = self.client.messages(bot, &room.room_id, from.as_deref(), true, PAGE).await?;
            let mut reached_the_past = page.chunk.is_empty();
            for raw in &page.chunk {
                let Some(event) = Event::read(raw) else { continue };
                if event.sender == *bot && event.is(saying) {
                    return Ok(Some(event.event_id));
                }
                reached_the_past |= event.sent_at_ms < saying.made_at_ms - CLOCKS_APART_MS;
            }
            match page.end {
                Some(end) if !reached_the_past => from = Some(end),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// As much as it takes to know our own again.
struct Event {
    event_id: OwnedEventId,
    sender: String,
    sent_at_ms: i64,
    mark: Option<String>,
    ciphertext: Option<String>,
}

impl Event {
    fn read(raw: &RawValue) -> Option<Self> {
        let event: Value = serde_json::from_str(raw.get()).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            event_id: EventId::parse(event["event_id"].as_str()?).ok()?,
            sender: text(&event["sender"])?,
            sent_at_ms: event["origin_server_ts"].as_i64().unwrap_or(i64::MAX),
            mark: text(&event["content"][SUBMISSION_KEY]),
            ciphertext: text(&event["content"]["ciphertext"]),
        })
    }

    fn is(&self, saying: &Saying) -> bool {
        match &saying.encrypted {
            Some(sealed) => self.ciphertext.as_deref().map(ciphertext_digest) == Some(sealed.digest),
            None => self.mark.as_deref() == Some(&*saying.mark.to_string()),
        }
    }
}
