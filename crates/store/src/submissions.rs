//! What agents asked to be sent. A claim is on disk before the homeserver hears of it, and settled by its answer or by
//! the echo, whichever comes first.

use parlour_domain::{
    ids::{AgentKey, MessageId, RoomKey},
    message::Body,
};
use ruma::{EventId, OwnedEventId, OwnedUserId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Charge, Overdrawn, Reader, StoreError, Tx,
    undo::Undo,
    value::{from_json, id, message_id},
};

/// A request to send.
#[derive(Clone, Debug)]
pub struct Claim {
    pub agent: AgentKey,
    pub id: MessageId,
    pub room: RoomKey,
    /// SHA-256 over room, text, reply and mentions.
    pub digest: [u8; 32],
    /// The event's content: the same bytes each time it is sent.
    pub content: String,
    pub body: String,
    pub sealed: Option<Sealed>,
    /// Whom it names, for waitFor=mentioned.
    pub mentions: Vec<OwnedUserId>,
    pub claimed_at_ms: i64,
}

/// A message's content as it is sent into an encrypted room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The content of the m.room.encrypted event. Empty where it has to be made anew, see [`Tx::spoil_sealed`].
    pub content: String,
    /// SHA-256 of its ciphertext.
    pub digest: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "made once a message and taken apart at once")]
pub enum Claimed {
    /// Ours to send.
    New,
    Before(Submission),
    Overdrawn(Overdrawn),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub agent: AgentKey,
    pub id: MessageId,
    pub room: RoomKey,
    pub digest: [u8; 32],
    /// `None` once sent.
    pub content: Option<String>,
    pub body: Option<Body>,
    /// Where it goes into an encrypted room; `content` is the plain text then, which is never sent.
    pub sealed: Option<Sealed>,
    pub event_id: Option<OwnedEventId>,
    pub claimed_at_ms: i64,
}

const COLUMNS: &str = "agent_key, submission_id, room_key, digest, content, body, sealed, sealed_digest,
    event_id, claimed_at_ms";

impl Tx<'_> {
    /// Claims a submission and charges for it, or finds that it was claimed before, which costs nothing.
    pub fn claim(&self, claim: &Claim, charges: &[Charge]) -> Result<Claimed, StoreError> {
        if let Some(before) = submission(self.0, claim.agent, claim.id)? {
            return Ok(Claimed::Before(before));
        }
        let taken = match self.charge(charges, claim.claimed_at_ms)? {
            Ok(taken) => taken,
            Err(overdrawn) => return Ok(Claimed::Overdrawn(overdrawn)),
        };
        let add = "INSERT INTO submissions (agent_key, submission_id, room_key, digest, content, body,
            sealed, sealed_digest, claimed_at_ms, undo) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let undo =
            Undo::of(charges, taken).with_mentions(self.last_mentions(claim.agent)?, claim.mentions.clone());
        self.0.prepare_cached(add)?.execute((
            claim.agent.0,
            claim.id.0.as_bytes(),
            claim.room.0,
            claim.digest,
            &claim.content,
            &claim.body,
            claim.sealed.as_ref().map(|s| &s.content),
            claim.sealed.as_ref().map(|s| s.digest),
            claim.claimed_at_ms,
            undo.to_column(),
        ))?;
        self.set_last_mentions(claim.agent, &claim.mentions)?;
        Ok(Claimed::New)
    }

    /// The homeserver has it. Returns whether that is news.
    pub fn sent(
        &self,
        agent: AgentKey,
        submission: MessageId,
        event_id: &EventId,
    ) -> Result<bool, StoreError> {
        let settle =
            "UPDATE submissions SET event_id = ?3, content = NULL, body = NULL, sealed = NULL, undo = NULL
            WHERE agent_key = ?1 AND submission_id = ?2 AND event_id IS NULL";
        let row = (agent.0, submission.0.as_bytes(), event_id.as_str());
        Ok(self.0.prepare_cached(settle)?.execute(row)? > 0)
    }

    /// Whose message the echo of this ciphertext is.
    pub fn submission_of_sealed(
        &self,
        agent: AgentKey,
        digest: [u8; 32],
    ) -> Result<Option<Submission>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM submissions WHERE sealed_digest = ?2 AND agent_key = ?1");
        let mut query = self.0.prepare_cached(&query)?;
        query.query_row((agent.0, digest), |r| Ok(row(r))).optional()?.transpose()
    }

    /// No ciphertext that is here may be sent any more: what is still open has to be encrypted anew. Its digest is kept,
    /// by which it is found if it was sent after all.
    pub fn spoil_sealed(&self) -> Result<(), StoreError> {
        let spoil = "UPDATE submissions SET sealed = '' WHERE sealed IS NOT NULL AND event_id IS NULL";
        self.0.prepare_cached(spoil)?.execute([])?;
        Ok(())
    }

    /// Encrypted anew.
    pub fn reseal(&self, agent: AgentKey, submission: MessageId, sealed: &Sealed) -> Result<(), StoreError> {
        let set = "UPDATE submissions SET sealed = ?3, sealed_digest = ?4
            WHERE agent_key = ?1 AND submission_id = ?2 AND event_id IS NULL";
        let row = (agent.0, submission.0.as_bytes(), &sealed.content, sealed.digest);
        self.0.prepare_cached(set)?.execute(row)?;
        Ok(())
    }

    /// Certainly not sent: as if it had never been asked for. Returns whom the agent's last message named, where that is
    /// another again.
    pub fn unclaim(
        &self,
        agent: AgentKey,
        submission: MessageId,
    ) -> Result<Option<Vec<OwnedUserId>>, StoreError> {
        let forget =
            "DELETE FROM submissions WHERE agent_key = ?1 AND submission_id = ?2 AND event_id IS NULL
            RETURNING undo";
        let mut forget = self.0.prepare_cached(forget)?;
        let undo = forget.query_row((agent.0, submission.0.as_bytes()), |row| row.get(0)).optional()?;
        undo.map_or(Ok(None), |undo| self.undo(agent, Undo::read(undo)?))
    }
}

impl Reader<'_> {
    pub fn submission(&self, agent: AgentKey, id: MessageId) -> Result<Option<Submission>, StoreError> {
        submission(self.0, agent, id)
    }

    /// Claimed, and neither sent nor refused.
    pub fn pending_submissions(&self) -> Result<Vec<Submission>, StoreError> {
        let query =
            format!("SELECT {COLUMNS} FROM submissions WHERE event_id IS NULL ORDER BY claimed_at_ms");
        self.0.prepare_cached(&query)?.query_and_then([], row)?.collect()
    }
}

fn submission(
    connection: &rusqlite::Connection,
    agent: AgentKey,
    id: MessageId,
) -> Result<Option<Submission>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM submissions WHERE agent_key = ?1 AND submission_id = ?2");
    let mut query = connection.prepare_cached(&query)?;
    query.query_row((agent.0, id.0.as_bytes()), |r| Ok(row(r))).optional()?.transpose()
}

fn row(row: &Row<'_>) -> Result<Submission, StoreError> {
    let event_id: Option<String> = row.get("event_id")?;
    let body: Option<String> = row.get("body")?;
    let sealed: (Option<String>, Option<[u8; 32]>) = (row.get("sealed")?, row.get("sealed_digest")?);
    Ok(Submission {
        agent: AgentKey(row.get("agent_key")?),
        id: message_id(row, "submission_id")?,
        room: RoomKey(row.get("room_key")?),
        digest: row.get("digest")?,
        content: row.get("content")?,
        body: body.map(|b| from_json(&b, "submissions.body")).transpose()?,
        sealed: sealed.0.zip(sealed.1).map(|(content, digest)| Sealed { content, digest }),
        event_id: event_id.map(|e| id(&e, "submissions.event_id")).transpose()?,
        claimed_at_ms: row.get("claimed_at_ms")?,
    })
}
