use parlour_domain::ids::MessageId;
use parlour_matrix::{HsError, events::SUBMISSION_KEY};
use parlour_store::{Sealed, Submission};
use ruma::{EventId, OwnedEventId, UserId};
use serde_json::{Value, value::RawValue};

use crate::{
    app::App,
    devices::ciphertext_digest,
    live::{AgentLive, RoomLive},
};

const PAGE: u32 = 100;
/// A thousand messages: a room does not see more than that in the time in which something is tried again.
const PAGES: usize = 10;
/// By how much the homeserver's clock may be ahead of or behind ours.
const CLOCKS_APART_MS: i64 = 10 * 60_000;

/// An event of ours that the homeserver gave no clear answer about: by what it is known again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unclear<'a> {
    pub(crate) sender: &'a UserId,
    pub(crate) mark: MessageId,
    /// As it was encrypted last.
    pub(crate) sealed: Option<&'a Sealed>,
    pub(crate) since_ms: i64,
}

impl App {
    /// Whether the homeserver has a message that it gave no clear answer about.
    pub(super) async fn look_for(
        &self,
        submission: &Submission,
        agent: &AgentLive,
        room: &RoomLive,
    ) -> Result<Option<OwnedEventId>, HsError> {
        let sent = Unclear {
            sender: agent.user_id(),
            mark: submission.id,
            sealed: submission.sealed.as_ref(),
            since_ms: submission.claimed_at_ms,
        };
        match self.find_sent(agent.user_id(), room, sent).await {
            // removed meanwhile: others of ours may still see what it said before
            Err(error) if error.is_final() => match self.reader(room) {
                Some(reader) => self.find_sent(&reader, room, sent).await,
                None => Ok(None),
            },
            looked => looked,
        }
    }

    /// Pages back through what `who` may see of a room, to before the event was made.
    pub(crate) async fn find_sent(
        &self,
        who: &UserId,
        room: &RoomLive,
        sent: Unclear<'_>,
    ) -> Result<Option<OwnedEventId>, HsError> {
        let mut from: Option<String> = None;
        for _ in 0..PAGES {
            let page = self.client.messages(who, &room.room_id, from.as_deref(), true, PAGE).await?;
            let events: Vec<Event> = page.chunk.iter().filter_map(|raw| Event::read(raw)).collect();
            if let Some(event) = events.iter().find(|event| event.is(&sent)) {
                return Ok(Some(event.event_id.clone()));
            }
            // another server's clock says what it likes
            let own = |event: &&Event| event.sender.ends_with(&format!(":{}", self.settings.server_name));
            let past = events.iter().filter(own).any(|e| e.sent_at_ms < sent.since_ms - CLOCKS_APART_MS);
            match page.end {
                Some(end) if !past && !page.chunk.is_empty() => from = Some(end),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// As much of an event as it takes to know our own again.
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

    fn is(&self, sent: &Unclear<'_>) -> bool {
        let marked = || self.mark.as_deref() == Some(&*sent.mark.to_string());
        let digest = || self.ciphertext.as_deref().map(ciphertext_digest);
        let sealed = |sealed: &Sealed| digest() == Some(sealed.digest);
        self.sender == *sent.sender && (marked() || sent.sealed.is_some_and(sealed))
    }
}
