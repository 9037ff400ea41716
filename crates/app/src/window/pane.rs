//! A lobby's messages as strangers see them, made once for all who look.

use std::{collections::HashMap, sync::Arc};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use parlour_domain::{
    ids::Seq,
    message::{Message, Told},
    window::{self, Words},
};
use ruma::UserId;
use sha2::{Digest, Sha256};

use crate::{
    app::App,
    live::{RoomLive, RoomLog},
    settings::LobbySettings,
    view::{Answers, Line, Speaker},
};

const MINUTE_MS: i64 = 60_000;

/// A lobby at a moment.
#[derive(Debug, Default)]
pub(crate) struct Pane {
    /// How many changes of lobbies had been counted.
    pub(crate) at: u64,
    /// In the room's order.
    pub(crate) entries: Vec<Entry>,
    /// See [`RoomLog::evicted_through`].
    pub(crate) evicted_through: Seq,
    /// Whether anybody could join it then: what everybody may read depends on that.
    open: bool,
}

/// A message, what it answers, and how both are shown.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    message: Arc<Message>,
    answered: Option<Arc<Message>>,
    pub(crate) line: Arc<Line>,
}

impl Pane {
    /// From a log that is in memory. Only what everybody may read is in it. What is the same as before is the same
    /// [`Line`] in memory, too: that is how those who follow see what changed.
    pub(crate) fn make(
        app: &App,
        room: &RoomLive,
        lobby: &LobbySettings,
        at: u64,
        before: Option<&Self>,
    ) -> Self {
        let open = room.open() && !room.encrypted();
        let public = |m: &Message| for_all(m.told(), open);
        let same_for_all = before.filter(|pane| pane.open == open);
        let old: HashMap<&str, &Entry> =
            same_for_all.into_iter().flat_map(|p| &p.entries).map(|e| (e.line.id.as_str(), e)).collect();
        let (shown, evicted_through) = room.with_log(|log| {
            let shown: Vec<_> = log.in_order().into_iter().filter(|m| public(m)).collect();
            let shown: Vec<_> = shown.into_iter().map(|m| (answered(log, &m, public), m)).collect();
            (shown, log.evicted_through())
        });
        let entry = |(answered, message): (Option<Arc<Message>>, Arc<Message>)| {
            let id = line_id(&message);
            let old = old.get(id.as_str()).copied();
            if let Some(old) = old.filter(|e| e.is_of(&message, answered.as_ref())) {
                return old.clone();
            }
            let reads = |m: &Message| as_all_read(m, open);
            let line = line(app, room, lobby, id, &reads(&message), answered.as_deref().map(reads).as_ref());
            let same = old.map(|e| &e.line).filter(|l| ***l == line).cloned();
            Entry { line: same.unwrap_or_else(|| Arc::new(line)), message, answered }
        };
        Self { at, entries: shown.into_iter().map(entry).collect(), evicted_through, open }
    }
}

impl Entry {
    fn is_of(&self, message: &Arc<Message>, answered: Option<&Arc<Message>>) -> bool {
        let answers_the_same = match (&self.answered, answered) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        Arc::ptr_eq(&self.message, message) && answers_the_same
    }

    /// When it was said; a clock that runs ahead does not count.
    fn said_at_ms(&self) -> i64 {
        self.message.sent_at_ms.min(self.message.received_at_ms)
    }
}

/// The messages of several lobbies in one order: each lobby's own is kept, and between them it goes by time.
pub(crate) fn in_order(panes: &[Arc<Pane>], through: Seq) -> Vec<Arc<Line>> {
    let mut all = vec![];
    for pane in panes {
        let mut latest = i64::MIN;
        for entry in pane.entries.iter().filter(|e| e.line.seq <= through) {
            latest = latest.max(entry.said_at_ms());
            all.push((latest, entry.line.clone()));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, line)| line).collect()
}

fn for_all(told: Told, open: bool) -> bool {
    !told.encrypted && told.visibility.lets_all_read(open)
}

/// With the newest words that everybody may read.
fn as_all_read(message: &Message, open: bool) -> Message {
    let newest = message.edits.iter().rfind(|edit| for_all(edit.told, open));
    newest.map_or_else(|| message.clone(), |edit| message.worded(edit))
}

fn answered(log: &RoomLog, message: &Message, public: impl Fn(&Message) -> bool) -> Option<Arc<Message>> {
    log.event(message.body.reply_to.as_ref()?).filter(|m| public(m)).cloned()
}

fn line(
    app: &App,
    room: &RoomLive,
    lobby: &LobbySettings,
    id: String,
    message: &Message,
    answered: Option<&Message>,
) -> Line {
    let body = &message.body;
    let names: Vec<Vec<String>> = body.mentions.iter().map(|user| spellings(app, room, user)).collect();
    let Words { pieces, cut, unnamed } = window::words(&body.text, &names);
    // a reply mentions whom it answers, which is shown anyway
    let answers = |user: &UserId| message.replied.as_ref().is_some_and(|r| r.sender == user);
    let unnamed = unnamed.into_iter().filter(|at| !answers(&body.mentions[*at]));
    let to = unnamed.filter_map(|at| names[at].first().cloned()).collect();
    let known = |m: &Message| Answers::Known {
        id: line_id(m),
        name: author(m),
        excerpt: window::excerpt(if m.body.text.is_empty() {
            m.body.attachment_name.as_deref().unwrap_or_default()
        } else {
            &m.body.text
        }),
    };
    Line {
        id,
        seq: message.seq,
        pos: message.pos,
        lobby: lobby.slug.clone(),
        lobby_name: lobby.name.clone(),
        speaker: Speaker {
            name: author(message),
            agent: !message.author.is_person(),
            mark: short_digest(message.sender.as_str()),
        },
        said_at_ms: message.sent_at_ms.min(message.received_at_ms).div_euclid(MINUTE_MS) * MINUTE_MS,
        edited: body.edited,
        answers: body.reply_to.as_ref().map(|_| answered.map_or(Answers::Unknown, known)),
        to,
        pieces,
        cut,
        attachment: body.attachment_name.as_deref().and_then(window::name),
    }
}

/// The name under which it was said. Nobody's Matrix id is put on a web page: where there is no name, the part before
/// the colon stands for it.
fn author(message: &Message) -> String {
    let name = message.author.display_name();
    let named = (name != message.sender.as_str()).then(|| window::name(name)).flatten();
    named.unwrap_or_else(|| message.sender.localpart().to_owned())
}

/// How clients write somebody's name, the one to be shown first.
fn spellings(app: &App, room: &RoomLive, user: &UserId) -> Vec<String> {
    let agent = app.agents.by_user(user).map(|a| a.agent.display_name.clone());
    let person = || room.with_members(|m| m.get(user).and_then(|m| m.display_name.clone()));
    let name = agent.or_else(person);
    let shown = name.as_deref().and_then(window::name).unwrap_or_else(|| user.localpart().to_owned());
    let all = [Some(shown), name, Some(user.to_string()), Some(user.localpart().to_owned())];
    all.into_iter().flatten().collect()
}

fn line_id(message: &Message) -> String {
    short_digest(message.event_id.as_str())
}

/// 96 bits, as 16 signs that may stand in an address.
fn short_digest(text: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(text.as_bytes())[..12])
}
