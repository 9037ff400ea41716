//! Looking into the public lobbies, without being anybody: no agent, no place in a room, no cursor in an inbox.

use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    ids::{CatalogId, Seq},
    limits::WINDOW_MESSAGES,
};
use tokio::sync::watch;

use crate::{
    app::App,
    live::RoomLive,
    request::Source,
    settings::LobbySettings,
    view::{Line, Lobby, Look, News, Watchable},
    window::{Cursor, Pane, Place, Told, in_order},
};

/// Lobbies looked into.
type Scope<'a> = Vec<(&'a LobbySettings, Arc<RoomLive>)>;

impl App {
    /// The lobbies that are there now, in the config's order.
    #[must_use]
    pub fn watchable(&self) -> Vec<Watchable> {
        let lobbies = self.lobbies().into_iter();
        lobbies.filter_map(|lobby| self.as_watchable(lobby)).collect()
    }

    fn as_watchable(&self, lobby: Lobby) -> Option<Watchable> {
        let settings = self.settings.lobbies.iter().find(|l| l.slug == lobby.slug)?;
        let number = self.open_lobby(&lobby.slug)?.room().catalog_id;
        Some(Watchable { alias: format!("#{}:{}", settings.alias, self.settings.server_name), number, lobby })
    }

    /// The newest messages of a lobby (its slug or number) or of all, or those before one of them.
    ///
    /// # Errors
    /// `room_not_found`: no lobby is called so; private rooms are none. `message_not_found`: `before` is not kept.
    pub async fn look_in(&self, lobby: Option<&str>, before: Option<&str>) -> Result<Look, Fault> {
        let scope = self.watched(lobby)?;
        let (lines, _) = self.lines(&scope).await?;
        let end = match before {
            None => lines.len(),
            Some(id) => lines.iter().position(|l| l.id == id).ok_or_else(no_such_message)?,
        };
        let begin = end.saturating_sub(WINDOW_MESSAGES);
        let newest = lines.iter().map(|l| l.seq).max().unwrap_or_default();
        Ok(Look {
            lines: lines[begin..end].to_vec(),
            earlier: begin > 0,
            cursor: Cursor(newest).write(&self.sealing),
        })
    }

    /// Follows a lobby or all of them. `after` is the cursor of what is known already; without one, or with one that
    /// means nothing, the newest messages come first, after a [`News::Reset`].
    ///
    /// # Errors
    /// `room_not_found`, `rate_limited`: too many follow from there, or at all.
    pub async fn watch(
        self: &Arc<Self>,
        lobby: Option<&str>,
        after: Option<&str>,
        source: Source,
    ) -> Result<Watching, Fault> {
        self.watched(lobby)?;
        let place = self.window.places.take(source)?;
        let after = after.and_then(|text| Cursor::read(text, &self.sealing));
        Ok(Watching {
            app: self.clone(),
            lobby: lobby.map(str::to_owned),
            changes: self.hub.lobby_changes(),
            after: after.map(|cursor| cursor.0).filter(|seq| *seq <= self.arrived_through()),
            told: None,
            _place: place,
        })
    }

    fn watched(&self, lobby: Option<&str>) -> Result<Scope<'_>, Fault> {
        let all = self.settings.lobbies.iter();
        let there = all.filter_map(|l| Some((l, self.open_lobby(&l.slug)?)));
        let meant = there.filter(|(l, room)| lobby.is_none_or(|text| is_called(l, room, text)));
        let scope: Scope<'_> = meant.collect();
        if lobby.is_some() && scope.is_empty() { Err(no_such_lobby()) } else { Ok(scope) }
    }

    /// All that strangers may read, in order; and up to which arrival each lobby has let go of messages.
    async fn lines(&self, scope: &Scope<'_>) -> Result<(Vec<Arc<Line>>, Evicted), Fault> {
        let (at, through) = (*self.hub.lobby_changes().borrow(), self.arrived_through());
        let mut panes = vec![];
        let mut evicted = vec![];
        for (lobby, room) in scope {
            room.load(&self.store, self.now()).await?;
            let pane = self.window.pane(room.key, at, |old| Pane::make(self, room, lobby, at, old));
            evicted.push((lobby.slug.clone(), pane.evicted_through));
            panes.push(pane);
        }
        Ok((in_order(&panes, through), evicted))
    }
}

type Evicted = Vec<(String, Seq)>;

fn is_called(lobby: &LobbySettings, room: &RoomLive, text: &str) -> bool {
    lobby.slug == text || CatalogId::parse(text).is_some_and(|number| room.room().catalog_id == number)
}

/// One who follows.
pub struct Watching {
    app: Arc<App>,
    lobby: Option<String>,
    changes: watch::Receiver<u64>,
    after: Option<Seq>,
    told: Option<Told>,
    _place: Place,
}

impl Watching {
    /// Waits for news. `None`: it is over, since the bridge stops or the lobby is none any more.
    pub async fn next(&mut self) -> Option<Vec<News>> {
        loop {
            self.changes.mark_unchanged();
            match self.look().await {
                Ok(news) if news.is_empty() => {}
                Ok(news) => return Some(news),
                Err(fault) => {
                    tracing::debug!(cause = fault.cause, code = fault.code.as_str(), "a window is closed");
                    return None;
                }
            }
            tokio::select! {
                changed = self.changes.changed() => changed.ok()?,
                () = self.app.tasks.stopped() => return None,
            }
        }
    }

    async fn look(&mut self) -> Result<Vec<News>, Fault> {
        let scope = self.app.watched(self.lobby.as_deref())?;
        let (lines, evicted) = self.app.lines(&scope).await?;
        let (app, news) = (&self.app, vec![]);
        let (mut told, mut news) = match (self.told.take(), self.after) {
            (Some(told), _) => (told, news),
            (None, Some(after)) if !Told::is_far_behind(after, &lines) => Told::through(after, &lines),
            (None, _) => Told::newest(&lines, WINDOW_MESSAGES),
        };
        let through = |line: &Line| {
            let lobby = evicted.iter().find(|(slug, _)| *slug == line.lobby);
            lobby.map(|(_, through)| *through).unwrap_or_default()
        };
        news.extend(told.news(&lines, through, |seq| Cursor(seq).write(&app.sealing)));
        self.told = Some(told);
        Ok(news)
    }
}

fn no_such_lobby() -> Fault {
    Fault::new(
        Code::RoomNotFound,
        "There is no public lobby of this name or number. GET /watch shows those there are.",
    )
}

fn no_such_message() -> Fault {
    Fault::new(Code::MessageNotFound, "This message is not kept any more. Begin at the newest.")
}
