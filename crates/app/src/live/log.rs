use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::Arc,
};

use parlour_domain::{
    gaps::Unread,
    ids::{MessageRef, Pos, RoomKey, Seq},
    message::{Edit, Message},
};
use parlour_store::{Gap, Reader, StoreError};
use ruma::{EventId, OwnedEventId};

/// A room's kept messages in memory.
#[derive(Debug, Default)]
pub(crate) struct RoomLog {
    by_arrival: BTreeMap<Seq, Arc<Message>>,
    by_event: HashMap<OwnedEventId, Seq>,
    gaps: HashMap<Seq, Gap>,
    /// What nobody can read so far.
    unread: HashMap<OwnedEventId, Unread>,
    /// The place of the newest encrypted event that has left the log.
    sealed_gone: Option<Pos>,
    /// Nothing that arrived later has left the log yet.
    evicted_through: Seq,
    /// The place of the last word of a person, also after that was deleted.
    person_at: Option<Pos>,
}

/// What happened to a log, as the store committed it.
#[derive(Clone, Debug)]
pub(crate) enum LogChange {
    Added(Arc<Message>),
    /// An echo gave an own message its time and place.
    Confirmed {
        seq: Seq,
        pos: Pos,
        sent_at_ms: i64,
    },
    /// All its edits as they are now.
    Edited {
        seq: Seq,
        edits: Vec<Edit>,
    },
    /// Redacted.
    Removed(Seq),
    /// Pushed out by newer ones.
    Evicted(Seq),
    Gap(Gap),
    /// An encrypted event that nobody can read so far.
    Unread(OwnedEventId, Unread),
    /// It can be read now, or was redacted.
    NotUnread(OwnedEventId),
}

/// A log as it is on disk.
#[derive(Debug, Default)]
pub(crate) struct StoredLog {
    pub(crate) messages: Vec<Message>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) unread: Vec<(OwnedEventId, Unread)>,
    pub(crate) sealed_gone: Option<Pos>,
    pub(crate) evicted_through: Seq,
}

impl StoredLog {
    pub(crate) fn read(reader: &Reader<'_>, room: RoomKey) -> Result<Self, StoreError> {
        Ok(Self {
            messages: reader.room_log(room)?,
            gaps: reader.room_gaps(room)?,
            unread: reader.room_unread(room)?,
            sealed_gone: reader.sealed_gone(room)?,
            evicted_through: reader.evicted_through(room)?,
        })
    }
}

impl RoomLog {
    #[must_use]
    pub(crate) fn new(stored: StoredLog) -> Self {
        let StoredLog { messages, gaps, unread, sealed_gone, evicted_through } = stored;
        let unread = unread.into_iter().collect();
        let mut log = Self { unread, sealed_gone, evicted_through, ..Self::default() };
        messages.into_iter().for_each(|m| log.apply(&LogChange::Added(Arc::new(m))));
        gaps.into_iter().for_each(|g| log.apply(&LogChange::Gap(g)));
        log
    }

    pub(crate) fn apply(&mut self, change: &LogChange) {
        match change {
            LogChange::Added(message) => {
                if message.author.is_person() {
                    self.person_at = self.person_at.max(Some(message.pos));
                }
                self.by_event.insert(message.event_id.clone(), message.seq);
                self.by_arrival.insert(message.seq, message.clone());
            }
            LogChange::Confirmed { seq, pos, sent_at_ms } => self.alter(*seq, |m| {
                m.pos = *pos;
                m.sent_at_ms = *sent_at_ms;
            }),
            LogChange::Edited { seq, edits } => self.alter(*seq, |m| m.edits = edits.clone()),
            LogChange::Removed(seq) => self.remove(*seq),
            LogChange::Evicted(seq) => {
                let sealed = self.by_arrival.get(seq).filter(|m| m.encrypted).map(|m| m.pos);
                self.sealed_gone = self.sealed_gone.max(sealed);
                self.remove(*seq);
                self.evicted_through = self.evicted_through.max(*seq);
            }
            LogChange::Gap(gap) => {
                self.gaps.insert(gap.before, gap.clone());
            }
            LogChange::Unread(event_id, unread) => drop(self.unread.insert(event_id.clone(), *unread)),
            LogChange::NotUnread(event_id) => drop(self.unread.remove(event_id)),
        }
    }

    /// What arrived after `after`, up to and with `through`, by arrival.
    pub(crate) fn arrived(&self, after: Seq, through: Seq) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        // a range that ends before it begins would panic
        let range = (Bound::Excluded(after), Bound::Included(through.max(after)));
        self.by_arrival.range(range).map(|(_, m)| m)
    }

    pub(crate) fn by_arrival(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        self.by_arrival.values()
    }

    #[must_use]
    pub(crate) fn by_seq(&self, seq: Seq) -> Option<&Arc<Message>> {
        self.by_arrival.get(&seq)
    }

    /// In the room's order.
    #[must_use]
    pub(crate) fn in_order(&self) -> Vec<Arc<Message>> {
        let mut messages: Vec<Arc<Message>> = self.by_arrival.values().cloned().collect();
        messages.sort_by_key(|m| m.pos);
        messages
    }

    #[must_use]
    pub(crate) fn event(&self, event_id: &EventId) -> Option<&Arc<Message>> {
        self.by_arrival.get(self.by_event.get(event_id)?)
    }

    /// All that are meant: two agents may have used one submission id.
    pub(crate) fn all(&self, reference: &MessageRef) -> impl Iterator<Item = &Arc<Message>> {
        let (event, id) = match reference {
            MessageRef::Event(event_id) => (self.event(event_id), None),
            MessageRef::Message(id) => (None, Some(*id)),
        };
        let with_id = self.by_arrival.values().filter(move |m| Some(m.message_id) == id);
        event.into_iter().chain(with_id)
    }

    /// The earliest in the room of those meant.
    #[must_use]
    pub(crate) fn find(&self, reference: &MessageRef) -> Option<&Arc<Message>> {
        self.all(reference).min_by_key(|m| m.pos)
    }

    #[must_use]
    pub(crate) fn gap(&self, before: Seq) -> Option<&Gap> {
        self.gaps.get(&before)
    }

    /// What nobody can read so far.
    pub(crate) fn unread(&self) -> impl Iterator<Item = Unread> {
        self.unread.values().copied()
    }

    #[must_use]
    pub(crate) fn sealed_gone(&self) -> Option<Pos> {
        self.sealed_gone
    }

    #[must_use]
    pub(crate) fn evicted_through(&self) -> Seq {
        self.evicted_through
    }

    #[must_use]
    pub(crate) fn person_at(&self) -> Option<Pos> {
        self.person_at
    }

    fn alter(&mut self, seq: Seq, change: impl FnOnce(&mut Message)) {
        if let Some(message) = self.by_arrival.get_mut(&seq) {
            change(Arc::make_mut(message));
        }
    }

    /// A gap hangs on the message after it: where that one goes, on the next.
    fn remove(&mut self, seq: Seq) {
        let Some(message) = self.by_arrival.remove(&seq) else { return };
        self.by_event.remove(&message.event_id);
        let Some(gap) = self.gaps.remove(&seq) else { return };
        let next = self.by_arrival.values().filter(|m| m.pos > message.pos).min_by_key(|m| m.pos);
        if let Some(before) = next.map(|m| m.seq) {
            self.gaps.entry(before).or_insert(Gap { before, ..gap });
        }
    }
}
