//! Puppets on the homeserver: registered on demand, named before they are seen, joined one at a time.

use parlour_domain::fault::{Code, Fault};
use parlour_matrix::HsError;
use ruma::{OwnedRoomId, OwnedServerName, RoomId, RoomOrAliasId, UserId};

use crate::{app::App, live::RoomLive};

impl App {
    /// Makes the puppet, or takes it as ours where it exists (the bridge may have died after making it).
    pub(crate) async fn make_puppet(&self, user: &UserId, display_name: &str) -> Result<(), Fault> {
        self.register_puppet(user).await?;
        self.name_puppet(user, display_name).await
    }

    /// The same for a puppet that is about to enter a room. Its device, where it needs one, is made while the homeserver
    /// takes the name; each to its end, whatever becomes of the other.
    pub(crate) async fn make_puppet_for(
        &self,
        room: &RoomLive,
        user: &UserId,
        display_name: &str,
    ) -> Result<(), Fault> {
        if !room.may_be_encrypted() {
            return self.make_puppet(user, display_name).await;
        }
        self.register_puppet(user).await?;
        let (named, made) = tokio::join!(self.name_puppet(user, display_name), self.device_for_room(user));
        named.and(made)
    }

    async fn register_puppet(&self, user: &UserId) -> Result<(), Fault> {
        self.client.register(user.localpart()).await.map(drop).map_err(|e| self.homeserver_fault(e))
    }

    async fn name_puppet(&self, user: &UserId, display_name: &str) -> Result<(), Fault> {
        self.client.set_display_name(user, display_name).await.map_err(|e| self.homeserver_fault(e))
    }

    /// What a caller is told where the homeserver did not do what was asked of it.
    pub(crate) fn homeserver_fault(&self, error: HsError) -> Fault {
        self.note_outage(&error);
        fault_of(error)
    }

    /// Whoever finds the homeserver gone says so: what it forgets meanwhile is looked for once it is back.
    pub(crate) fn note_outage(&self, error: &HsError) {
        if matches!(error, HsError::NotSent(_)) {
            self.outage.notify_one();
        }
    }

    /// The bot or a puppet, living or gone.
    pub(crate) fn is_ours(&self, user: &UserId) -> bool {
        *user == self.settings.bot || self.settings.is_puppet(user)
    }

    /// One of ours into a room, when its turn comes. `via`: servers that know the room, where ours may not.
    pub(crate) async fn join_as(
        &self,
        user: &UserId,
        room: &RoomId,
        via: &[OwnedServerName],
    ) -> Result<OwnedRoomId, HsError> {
        let target = room.as_str().try_into().map_err(bad_room_id)?;
        let _one = self.joining.take(room.to_owned()).await;
        self.client.join(user, target, via).await
    }

    /// The bot by a name that leads to the room, when the room's turn comes.
    pub(crate) async fn join_by_name(
        &self,
        name: &RoomOrAliasId,
        room: &RoomId,
        via: &[OwnedServerName],
    ) -> Result<OwnedRoomId, HsError> {
        let _one = self.joining.take(room.to_owned()).await;
        self.client.join(&self.settings.bot, name, via).await
    }
}

fn bad_room_id(error: ruma::IdParseError) -> HsError {
    HsError::NotSent(error.to_string())
}

fn fault_of(error: HsError) -> Fault {
    match error {
        HsError::Limited { retry_after_ms } => {
            let seconds = retry_after_ms.unwrap_or(5_000).div_ceil(1_000);
            Fault::new(Code::RateLimited, "The Matrix server asks to slow down. Wait as long as Retry-After says.")
                .retry_after(seconds)
        }
        // Synapse calls a ban M_BAD_STATE where one joins (1.163)
        error if error.is_forbidden() || error.has_code("M_BAD_STATE") => Fault::new(
            Code::Forbidden,
            "The Matrix server refused this: you may have been removed from the room or banned. Ask its people.",
        )
        .because(error),
        error => Fault::unavailable(error),
    }
}
