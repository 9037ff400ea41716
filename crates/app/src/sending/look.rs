use parlour_matrix::{HsError, Incoming};
use parlour_store::Submission;
use ruma::{OwnedEventId, UserId};

use crate::{
    app::App,
    devices::ciphertext_digest,
    live::{AgentLive, RoomLive},
};

const PAGE: u32 = 100;
/// A thousand messages: a lobby does not see more than that in the time a submission is carried on.
const PAGES: usize = 10;
/// By how much the homeserver's clock may be ahead of or behind ours.
const CLOCKS_APART_MS: i64 = 10 * 60_000;

impl App {
    /// Whether the homeserver has a message that it gave no clear answer about.
    pub(super) async fn look_for(
        &self,
        submission: &Submission,
        agent: &AgentLive,
        room: &RoomLive,
    ) -> Result<Option<OwnedEventId>, HsError> {
        match self.look_as(agent.user_id(), submission, agent, room).await {
            // removed meanwhile: others of ours may still see what it said before
            Err(HsError::Refused { .. }) => match self.reader(room) {
                Some(reader) => self.look_as(&reader, submission, agent, room).await,
                None => Ok(None),
            },
            looked => looked,
        }
    }

    async fn look_as(
        &self,
        who: &UserId,
        submission: &Submission,
        agent: &AgentLive,
        room: &RoomLive,
    ) -> Result<Option<OwnedEventId>, HsError> {
        let mut from: Option<String> = None;
        for _ in 0..PAGES {
            let page = self.client.messages(who, &room.room_id, from.as_deref(), true, PAGE).await?;
            let mut reached_the_past = page.chunk.is_empty();
            for raw in &page.chunk {
                let (head, same) = match Incoming::parse(raw, Some(&room.room_id)) {
                    Incoming::Message(m) => (m.head, m.submission == Some(submission.id)),
                    Incoming::Encrypted { head, ciphertext, .. } => {
                        let digest = ciphertext.map(|c| ciphertext_digest(&c));
                        (head, digest.is_some() && digest == submission.sealed.as_ref().map(|s| s.digest))
                    }
                    _ => continue,
                };
                if head.sender == agent.user_id() && same {
                    return Ok(Some(head.event_id));
                }
                reached_the_past |= head.sent_at_ms < submission.claimed_at_ms - CLOCKS_APART_MS;
            }
            match page.end {
                Some(end) if !reached_the_past => from = Some(end),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}
