//! How a message belongs to others (`m.relates_to`): replies, threads, edits.

use ruma::OwnedEventId;
use serde_json::value::RawValue;

use crate::json::Fields;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Relation {
    /// A real reply. That of a thread's fallback only serves clients without threads.
    pub(super) reply_to: Option<OwnedEventId>,
    /// The thread's root.
    pub(super) thread: Option<OwnedEventId>,
    /// Something is answered, if only as a fallback: then the body may begin with a quotation.
    pub(super) quotes: bool,
}

pub(super) fn read(content: &Fields<'_>) -> Relation {
    let Some(relates) = content.object("m.relates_to") else { return Relation::default() };
    let answered = relates.object("m.in_reply_to").and_then(|reply| reply.event_id("event_id"));
    let thread =
        (relates.str("rel_type").as_deref() == Some("m.thread")).then(|| relates.event_id("event_id"));
    let thread = thread.flatten();
    let fallback = thread.is_some() && relates.is_true("is_falling_back");
    Relation { quotes: answered.is_some(), reply_to: answered.filter(|_| !fallback), thread }
}

/// The message that is edited and its new content. `None` for anything that is no complete edit: better shown as a
/// message than lost.
pub(super) fn edit<'a>(content: &Fields<'a>) -> Option<(OwnedEventId, &'a RawValue)> {
    let relates = content.object("m.relates_to")?;
    if relates.str("rel_type").as_deref() != Some("m.replace") {
        return None;
    }
    let new = content.get("m.new_content")?;
    Fields::of(new).filter(|fields| !fields.is_empty())?;
    Some((relates.event_id("event_id")?, new))
}

/// The message that a sign stands beside, and the sign.
pub(super) fn annotation(content: &Fields<'_>) -> Option<(OwnedEventId, String)> {
    let relates = content.object("m.relates_to")?;
    if relates.str("rel_type").as_deref() != Some("m.annotation") {
        return None;
    }
    Some((relates.event_id("event_id")?, relates.text("key")?))
}
