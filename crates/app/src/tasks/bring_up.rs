//! From a started process to a working bridge: the homeserver knows us, the bot is there, the lobbies exist.

use std::sync::Arc;

use parlour_domain::{ids::CatalogId, room::RoomKind};
use parlour_matrix::{CreateRoom, HsError};
use parlour_store::NewRoom;
use ruma::{OwnedRoomAliasId, OwnedRoomId, RoomAliasId};
use serde_json::json;

use crate::{
    app::App,
    live::{AgentLive, Members, RoomLive},
    settings::LobbySettings,
    view::Readiness,
};

const FIRST_PAUSE_MS: i64 = 500;
const LONGEST_PAUSE_MS: i64 = 10_000;
/// Synapse brings the next hundred events within some 30 ms of the last.
const QUIET_MS: i64 = 1_000;
/// On a server where it is never quiet.
const QUIET_AT_LAST_MS: i64 = 60_000;
/// In `meta`: what was set up when everything was there last.
const READY: &str = "ready";

/// Why it is not ready, for `/ready` and the log. Holds no secret.
type NotReady = String;

impl App {
    pub(crate) fn start_bring_up(self: &Arc<Self>) {
        let (app, mut leavers) = (self.clone(), self.leavers());
        self.tasks.spawn(async move {
            if app.is_as_before().await {
                app.declare_ready();
                std::mem::take(&mut leavers).into_iter().for_each(|agent| drop(app.start_leaving(agent)));
                app.until_quiet().await;
            }
            app.until_ready().await;
            leavers.into_iter().for_each(|agent| drop(app.start_leaving(agent)));
            app.watch_for_outages().await;
        });
    }

    async fn until_ready(self: &Arc<Self>) {
        let mut pause_ms = FIRST_PAUSE_MS;
        while let Err(reason) = self.bring_up().await {
            self.report(&reason);
            if !self.let_pass(pause_ms).await {
                return;
            }
            pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
        }
        self.declare_ready();
        self.note_ready().await;
    }

    fn declare_ready(&self) {
        let before = std::mem::replace(&mut *self.readiness.lock(), Readiness::Ready);
        if before != Readiness::Ready {
            // the bot is there
            self.undressed.notify_one();
            self.bans.due.news.notify_one();
            tracing::info!("ready: agents can join");
        }
    }

    /// All was there the last time, and the aliases lead to the same rooms. Then agents need not wait until everything
    /// has been looked at again; and the homeserver, which is busy bringing what piled up, need not answer our looks
    /// meanwhile.
    async fn is_as_before(&self) -> bool {
        let noted = self.store.read(|r| r.meta(READY)).await;
        noted.is_ok_and(|noted| noted == Some(self.setting_up()))
            && self.reach().await.is_ok()
            && self.lobbies_are_as_before().await
    }

    async fn lobbies_are_as_before(&self) -> bool {
        for lobby in &self.settings.lobbies {
            let (room, alias) = (self.open_lobby(&lobby.slug), self.alias_of(lobby));
            let Some((room, Ok(alias))) = room.map(|r| (r, alias)) else { return false };
            let Some(leads_to) = self.client.resolve_alias(&alias).await.ok().flatten() else { return false };
            if self.moved_on(leads_to).await != room.room_id {
                return false;
            }
        }
        true
    }

    async fn note_ready(&self) {
        let what = self.setting_up();
        if let Err(error) = self.store.write(move |tx| tx.set_meta(READY, &what)).await {
            tracing::warn!(%error, "cannot note that everything was there");
        }
    }

    /// What there is to set up: with another config it is not as before.
    fn setting_up(&self) -> Vec<u8> {
        let lobbies = self.settings.lobbies.iter().map(|l| format!("{} {} {}", l.slug, l.alias, l.name));
        lobbies.fold(self.settings.bot.to_string(), |all, lobby| format!("{all}\n{lobby}")).into_bytes()
    }

    /// Until the homeserver has brought what piled up, as far as one can tell.
    async fn until_quiet(&self) {
        let (mut seen, end) = (None, self.now() + QUIET_AT_LAST_MS);
        while !self.tasks.stopping() && seen != Some(self.handover.newest()) && self.now() < end {
            seen = Some(self.handover.newest());
            self.let_pass(QUIET_MS).await;
        }
    }

    fn report(&self, reason: &str) {
        let mut readiness = self.readiness.lock();
        let now = Readiness::NotYet(reason.to_owned());
        if *readiness != now {
            tracing::warn!(reason, "not ready yet; trying again");
            *readiness = now;
        }
    }

    async fn bring_up(self: &Arc<Self>) -> Result<(), NotReady> {
        let bot = &self.settings.bot;
        self.reach().await?;
        self.client.register(bot.localpart()).await.map_err(|e| format!("cannot register the bot: {e}"))?;
        self.client.whoami(bot).await.map_err(|e| {
            format!("the homeserver does not know {bot}; does homeserver.server_name say what it calls itself? {e}")
        })?;
        self.client
            .set_display_name(bot, "Parlour")
            .await
            .map_err(|e| format!("cannot name the bot: {e}"))?;
        for lobby in &self.settings.lobbies {
            self.bring_up_lobby(lobby).await.map_err(|e| format!("lobby {}: {e}", lobby.slug))?;
        }
        Ok(())
    }

    /// The ping comes first: with it the homeserver begins to bring what piled up.
    async fn reach(&self) -> Result<(), NotReady> {
        let pinged = self.ping().await;
        if pinged.is_err() {
            self.client.versions().await.map_err(|e| out_of_reach(&e))?;
        }
        pinged
    }

    /// Also makes the homeserver deliver at once what piled up while we were away.
    pub(crate) async fn ping(&self) -> Result<(), NotReady> {
        let nonce = hex(&self.chance.bytes::<8>());
        match self.client.ping(&self.settings.appservice_id, &nonce).await {
            // a homeserver without this call shows by its transactions that it knows us
            Err(HsError::Refused { status: 404 | 405, .. }) | Ok(_) => Ok(()),
            Err(error) => Err(format!("{}: {error}", pinged_in_vain(&error))),
        }
    }

    async fn bring_up_lobby(self: &Arc<Self>, lobby: &LobbySettings) -> Result<(), NotReady> {
        let alias = self.alias_of(lobby)?;
        let room_id = match self.client.resolve_alias(&alias).await.map_err(|e| e.to_string())? {
            Some(room_id) => self.enter_existing(&alias, &room_id).await?,
            None => self.make_lobby(lobby).await?,
        };
        let room_id = self.moved_on(room_id).await;
        if let Some(room) = self.rooms.lobby(&lobby.slug)
            && (room.room_id == room_id || self.goes_on(&room, &room_id).await?)
        {
            return self.read_room(&self.known(&room_id)?).await;
        }
        self.adopt(lobby, &room_id).await
    }

    /// The lobby was upgraded while we were away, and its alias leads to the new room already.
    async fn goes_on(self: &Arc<Self>, old: &Arc<RoomLive>, to: &OwnedRoomId) -> Result<bool, NotReady> {
        let bot = self.settings.bot.clone();
        let goes_on = self.go_on_in(old, to, &bot).await.map_err(|e| e.to_string())?;
        Ok(goes_on && self.rooms.by_id(to).is_some_and(|room| room.key == old.key))
    }

    /// Where the alias still leads to a room that has gone on since.
    async fn moved_on(&self, room_id: OwnedRoomId) -> OwnedRoomId {
        let old = room_id.clone();
        let moved = self.store.read(move |r| r.moved(&old)).await.ok().flatten();
        moved.and_then(|key| self.rooms.get(key)).map_or(room_id, |room| room.room_id.clone())
    }

    fn alias_of(&self, lobby: &LobbySettings) -> Result<OwnedRoomAliasId, NotReady> {
        let alias = format!("#{}:{}", lobby.alias, self.settings.server_name);
        RoomAliasId::parse(&alias).map_err(|e| format!("alias {alias}: {e}"))
    }

    async fn read_room(self: &Arc<Self>, room: &Arc<RoomLive>) -> Result<(), NotReady> {
        self.read_state(room).await?;
        self.read_history(room).await.map_err(|e| format!("cannot read earlier messages: {e}"))
    }

    /// A room that somebody made under the alias before is used as it is.
    async fn enter_existing(
        &self,
        alias: &RoomAliasId,
        room_id: &OwnedRoomId,
    ) -> Result<OwnedRoomId, NotReady> {
        let target = alias.as_str().try_into().map_err(|_| "no alias".to_owned())?;
        self.join_by_name(target, room_id, &[]).await.map_err(|error| {
            format!(
                "{alias} is {room_id}, which the bot cannot join ({error}): make it public, or invite {}",
                self.settings.bot
            )
        })
    }

    async fn make_lobby(&self, lobby: &LobbySettings) -> Result<OwnedRoomId, NotReady> {
        let state = |kind: &str, content| json!({"type": kind, "state_key": "", "content": content});
        let room = CreateRoom {
            name: Some(lobby.name.clone()),
            topic: Some(format!("Agents and people talk here. {}", self.settings.public_url)),
            alias_localpart: Some(lobby.alias.clone()),
            public: true,
            room_version: None,
            initial_state: vec![
                state("m.room.history_visibility", json!({"history_visibility": "world_readable"})),
                state("m.room.guest_access", json!({"guest_access": "forbidden"})),
            ],
            creation_content: json!({}),
            // an agent must not be able to ring for everybody in a public room
            power_levels: json!({"notifications": {"room": 50}}),
            ..CreateRoom::default()
        };
        self.client
            .create_room(&self.settings.bot, room)
            .await
            .map_err(|e| format!("cannot make the room: {e}"))
    }

    /// Known first, then read: what arrives while we read is not lost.
    async fn adopt(self: &Arc<Self>, lobby: &LobbySettings, room_id: &OwnedRoomId) -> Result<(), NotReady> {
        let (slug, name, id) = (lobby.slug.clone(), lobby.name.clone(), room_id.clone());
        let (catalog_id, created_at_ms) = (CatalogId::new(self.now(), self.chance.bytes()), self.now());
        let row = self.store.write(move |tx| {
            let new = NewRoom {
                room_id: &id,
                catalog_id,
                kind: RoomKind::Lobby,
                slug: Some(&slug),
                name: Some(&name),
                created_at_ms,
            };
            tx.put_room(&new)
        });
        let room = self.rooms.put(row.await.map_err(|e| e.to_string())?, Members::default());
        self.read_room(&room).await
    }

    /// Who is in, who may do what, what the room is called; refuses what cannot be a lobby.
    async fn read_state(self: &Arc<Self>, room: &Arc<RoomLive>) -> Result<(), NotReady> {
        self.survey(room, &self.settings.bot).await.map_err(|e| e.to_string())?;
        if room.encrypted() {
            return Err("the room under its alias is encrypted: a lobby has to be readable by everybody; move the alias".to_owned());
        }
        Ok(())
    }

    fn known(&self, room_id: &OwnedRoomId) -> Result<Arc<RoomLive>, NotReady> {
        self.rooms.by_id(room_id).ok_or_else(|| "the room is not known".to_owned())
    }

    /// Agents whose leaving a restart interrupted, and those that nobody was told the token of. Listed before the
    /// first call can come: later, a newcomer on its way in would look the same.
    fn leavers(&self) -> Vec<Arc<AgentLive>> {
        self.agents.all().into_iter().filter(|a| a.ended()).collect()
    }
}

/// Synapse looks at the token before anything else, so a wrong one shows at the first call.
fn out_of_reach(error: &HsError) -> String {
    match error.has_code("M_UNKNOWN_TOKEN") {
        true => format!(
            "the homeserver does not know our as_token: give it our registration file and restart it. {error}"
        ),
        false => format!("homeserver.url: {error}"),
    }
}

/// What to mend when the homeserver's call to us fails (spec, "Pinging": its errcodes say how far it came).
fn pinged_in_vain(error: &HsError) -> &'static str {
    match error {
        HsError::Unknown(cause) if cause.contains("M_BAD_STATUS") => {
            "the homeserver's call to us was refused: its registration file has another hs_token or url than ours"
        }
        HsError::Unknown(cause) if cause.contains("M_CONNECTION") => {
            "the homeserver cannot reach us at the registration's url: server.appservice_url has to be right as seen from there"
        }
        _ => {
            "the homeserver does not take us for its appservice: give it our registration file and restart it"
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
