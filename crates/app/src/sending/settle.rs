use std::sync::Arc;

use parlour_domain::{
    agent::Author,
    ids::{MessageId, Pos, RoomKey},
    room::RoomKind,
};
use parlour_matrix::events::hops;
use parlour_store::{Appended, NewEntry, StoreError, Submission, Tx};
use ruma::OwnedEventId;

use crate::{
    app::App,
    live::{AgentLive, LogChange, RoomLive},
};

impl App {
    /// The homeserver has the message: it is in the history at once, its echo will only give it its time.
    pub(super) async fn settle(&self, submission: &Submission, event_id: OwnedEventId) {
        let key = (submission.agent, submission.id);
        if let Err(error) = self.write_sent(submission, &event_id).await {
            // it is sent, whatever our disk says; the echo settles it
            tracing::warn!(%error, submission = %submission.id, "cannot note that a message was sent");
        }
        self.flights.land(key, Ok(event_id));
    }

    async fn write_sent(&self, submission: &Submission, event_id: &OwnedEventId) -> Result<(), StoreError> {
        let (Some(agent), Some(room)) = (self.agents.get(submission.agent), self.rooms.get(submission.room))
        else {
            return Ok(());
        };
        let Some(entry) = self.own_entry(&agent, &room, submission, event_id.clone()) else { return Ok(()) };
        let (agent_key, id, event_id) = (submission.agent, submission.id, event_id.clone());
        let landing = ((agent_key, id), event_id.clone());
        let write = move |tx: &Tx<'_>| note_sent(tx, agent_key, id, &event_id, entry);
        // after a power cut the claim is open again, and its echo or a look settles it
        self.rewrite_and_follow(write, move |app, changes| {
            app.follow(&room, &changes);
            // from here: the task that sent it would have to be woken first
            app.flights.land(landing.0, Ok(landing.1));
        })
        .await
    }

    fn own_entry(
        &self,
        agent: &AgentLive,
        room: &RoomLive,
        submission: &Submission,
        event_id: OwnedEventId,
    ) -> Option<NewEntry> {
        let content = submission.content.clone()?;
        Some(NewEntry {
            room: room.key,
            event_id,
            message_id: submission.id,
            sender: agent.agent.user_id.clone(),
            author: author(agent),
            event_type: "m.room.message".to_owned(),
            hops: serde_json::from_str(&content).map_or(0, hops),
            content,
            body: submission.body.clone()?,
            sent_at_ms: self.now(),
            received_at_ms: self.now(),
            visibility: room.visibility(),
            echoed: false,
            encrypted: submission.sealed.is_some(),
        })
    }

    /// Takes committed changes of a log into memory, and wakes whom they concern. For the writer's thread only, see
    /// [`App::write_and_follow`].
    pub(crate) fn follow(&self, room: &Arc<RoomLive>, changes: &[LogChange]) {
        changes.iter().for_each(|change| room.apply(change));
        for change in changes {
            if let LogChange::Added(message) = change {
                self.has_arrived(message.seq);
                self.typing.write().spoke(room.key, &message.sender, self.now());
                self.hub.arrived(message, self.setting(room));
                self.heed_loop(room, message);
            }
        }
        if room.kind() == RoomKind::Lobby {
            self.hub.lobby_changed();
        }
    }
}

pub(crate) fn author(agent: &AgentLive) -> Author {
    Author::Agent { key: agent.key(), id: agent.agent.id, display_name: agent.agent.display_name.clone() }
}

fn note_sent(
    tx: &Tx<'_>,
    agent: parlour_domain::ids::AgentKey,
    id: MessageId,
    event_id: &OwnedEventId,
    entry: NewEntry,
) -> Result<Vec<LogChange>, StoreError> {
    tx.sent(agent, id, event_id)?;
    let room = entry.room;
    let mut changes = append(tx, entry, None)?;
    changes.extend(cut_back(tx, room)?);
    Ok(changes)
}

/// Adds one message, at the end or `at` a place that is kept for it. [`cut_back`] has to follow.
pub(crate) fn append(tx: &Tx<'_>, entry: NewEntry, at: Option<Pos>) -> Result<Vec<LogChange>, StoreError> {
    Ok(match tx.append_at(entry, at)? {
        Appended::New(message) => vec![LogChange::Added(Arc::new(message))],
        Appended::Confirmed { seq, pos, sent_at_ms } => vec![LogChange::Confirmed { seq, pos, sent_at_ms }],
        Appended::Known => vec![],
    })
}

/// Takes out of a log what is more than it keeps.
pub(crate) fn cut_back(tx: &Tx<'_>, room: RoomKey) -> Result<Vec<LogChange>, StoreError> {
    Ok(tx.evict(room)?.into_iter().map(LogChange::Evicted).collect())
}
