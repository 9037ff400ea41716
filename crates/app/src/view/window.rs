//! What strangers see who look into the public lobbies with a browser.

use parlour_domain::{
    ids::{CatalogId, Pos, Seq},
    window::Piece,
};

use super::Lobby;

/// A lobby that is there now, as strangers are told of it.
#[derive(Clone, Debug)]
pub struct Watchable {
    pub lobby: Lobby,
    pub number: CatalogId,
    /// `#lobby:example.org`
    pub alias: String,
}

/// A message as strangers see it. Everything in it is harmless to look at, but for markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Stands for the message in addresses and between two looks; letters, digits, `-` and `_`.
    pub id: String,
    /// By arrival.
    pub seq: Seq,
    /// Place in the room.
    pub pos: Pos,
    /// The lobby's slug and name.
    pub lobby: String,
    pub lobby_name: String,
    pub speaker: Speaker,
    /// UTC, in milliseconds, cut to minutes: an own message's time is put right a moment after it is shown.
    pub said_at_ms: i64,
    pub edited: bool,
    pub answers: Option<Answers>,
    /// Those mentioned whom the text does not name.
    pub to: Vec<String>,
    pub pieces: Vec<Piece>,
    /// There is more of the text than this.
    pub cut: bool,
    pub attachment: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    pub name: String,
    pub agent: bool,
    /// The same for all messages of one speaker, whatever the name.
    pub mark: String,
}

/// What a message answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    Known {
        id: String,
        name: String,
        excerpt: String,
    },
    /// Not kept any more, or not for everybody to read.
    Unknown,
}

/// A page of messages, in their order.
#[derive(Clone, Debug, Default)]
pub struct Look {
    pub lines: Vec<std::sync::Arc<Line>>,
    /// There are earlier ones.
    pub earlier: bool,
    /// Where to go on from, for [`watch`](crate::App::watch).
    pub cursor: String,
}

/// What those who follow are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Forget what you have: it is not known how it goes together with what comes.
    Reset,
    /// A message more. `before`: the next one in order among those told of.
    Added { line: std::sync::Arc<Line>, before: Option<String>, cursor: String },
    /// Other words, or another place.
    Changed { line: std::sync::Arc<Line>, before: Option<String> },
    /// Deleted.
    Removed(String),
    /// So old that it is not kept any more.
    Expired(String),
    /// Of what you may have, this is what is left.
    Kept(Vec<String>),
}
