//! Who asks, what they may, and which room they mean.

use std::sync::Arc;

use parlour_domain::{
    bot::{
        command::{readings, room_of},
        prefix::PREFIX,
    },
    room::RoomKind,
    room_ref::RoomRef,
};
use ruma::{MatrixToUri, MatrixUri, OwnedUserId, RoomAliasId, RoomId, UserId, matrix_uri::MatrixId};

use super::Words;
use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

/// Something that a person wants of the bot.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    /// Where it was said.
    pub(super) room: Arc<RoomLive>,
    pub(super) sender: OwnedUserId,
    pub(super) mentions: Vec<OwnedUserId>,
    /// Said to the bot alone.
    pub(super) direct: bool,
}

impl Ask {
    /// A command as it is typed here.
    pub(super) fn typed(&self, command: &str) -> String {
        if self.direct { command.to_owned() } else { format!("{PREFIX} {command}") }
    }
}

impl App {
    /// Whether somebody may let agents into a room: who may invite there.
    pub(crate) fn manages(&self, room: &RoomLive, person: &UserId) -> bool {
        let joined = room.with_members(|m| m.is_joined(person)) && !self.is_barred(person);
        joined && room.power().is_some_and(|power| power.may_invite(person))
    }

    /// Whether somebody may put others out of a room.
    pub(super) fn may_put_out(&self, room: &RoomLive, person: &UserId) -> bool {
        let joined = room.with_members(|m| m.is_joined(person));
        joined && room.power().is_some_and(|power| power.level_of(person) >= power.kick)
    }

    /// In a lobby, where everybody talks, the bot listens to those who keep order only.
    pub(super) fn is_heard(&self, ask: &Ask) -> bool {
        ask.room.kind() == RoomKind::Private || self.may_put_out(&ask.room, &ask.sender)
    }

    /// The room that a command without a name is about; somebody who may let agents in there asks.
    pub(super) async fn room_meant(&self, ask: &Ask, rest: &str) -> Result<Arc<RoomLive>, Words> {
        let room = self.choose(ask, room_of(rest)).await?;
        if !self.manages(&room, &ask.sender) {
            return Err(no_power("invite"));
        }
        if self.is_managed(&room) { Ok(room) } else { Err(not_managed()) }
    }

    /// For commands that take no power: the room in which one is, or from a chat one of one's own.
    pub(super) async fn room_looked_at(&self, ask: &Ask, rest: &str) -> Result<Arc<RoomLive>, Words> {
        if ask.direct { self.choose(ask, room_of(rest)).await } else { Ok(ask.room.clone()) }
    }

    /// The same as [`room_meant`](Self::room_meant) for a command with a name: the first reading in which there is such an agent.
    pub(super) async fn agent_meant(
        &self,
        ask: &Ask,
        rest: &str,
        find: impl Fn(&str, &RoomLive) -> Result<Arc<AgentLive>, Words> + Send,
    ) -> Result<(Arc<RoomLive>, Arc<AgentLive>), Words> {
        let mut first_refusal = None;
        for reading in readings(rest) {
            let found = match self.choose(ask, reading.room).await {
                Ok(room) => find(reading.name, &room).map(|agent| (room, agent)),
                Err(refusal) => Err(refusal),
            };
            match found {
                Ok(found) => return Ok(found),
                Err(refusal) => drop(first_refusal.get_or_insert(refusal)),
            }
        }
        Err(first_refusal.unwrap_or_default())
    }

    pub(super) async fn choose(&self, ask: &Ask, named: Option<&str>) -> Result<Arc<RoomLive>, Words> {
        if ask.direct {
            return self.choose_of_all(ask, named).await;
        }
        if ask.room.kind() != RoomKind::Private {
            return Err(Words::new(
                "This is a public lobby: agents come and go as they like, and I manage nothing here.",
            ));
        }
        match named {
            None => Ok(ask.room.clone()),
            Some(text) => match self.find(std::slice::from_ref(&ask.room), text).await {
                Some(room) => Ok(room),
                None => Err(Words::new(
                    "Here I only take commands for this room. For another one, say it there or write to me directly.",
                )),
            },
        }
    }

    async fn choose_of_all(&self, ask: &Ask, named: Option<&str>) -> Result<Arc<RoomLive>, Words> {
        let mine = self.rooms_of(&ask.sender);
        if let Some(text) = named {
            let found = self.find(&mine, text).await;
            return found.ok_or_else(|| list_rooms("I know no room of yours under that name. ", &mine));
        }
        match &mine[..] {
            [one] => Ok(one.clone()),
            all => Err(list_rooms("Which room? ", all)),
        }
    }

    /// Rooms in which somebody may let agents in or put them out. One list for all commands, so that places in it stay the
    /// same; each command then asks for the power that it takes.
    fn rooms_of(&self, person: &UserId) -> Vec<Arc<RoomLive>> {
        let rooms = self.bot.all().into_keys().filter_map(|key| self.rooms.get(key));
        let has_a_say = |room: &RoomLive| self.manages(room, person) || self.may_put_out(room, person);
        rooms.filter(|room| self.is_managed(room) && has_a_say(room)).collect()
    }

    /// By number, link, Matrix id, alias, name or place in the list.
    async fn find(&self, rooms: &[Arc<RoomLive>], text: &str) -> Option<Arc<RoomLive>> {
        let text = text.trim().trim_matches(['"', '\'', '“', '”', '<', '>']);
        let is = |fits: &dyn Fn(&RoomLive) -> bool| {
            let mut found = rooms.iter().filter(|room| fits(room));
            found.next().filter(|_| found.next().is_none()).cloned()
        };
        if let RoomRef::Number(number) = RoomRef::parse(Some(text)) {
            return is(&|room| room.room().catalog_id == number);
        }
        if let Some(target) = address(text) {
            let id = match target {
                MatrixId::Room(id) => id,
                MatrixId::RoomAlias(alias) => self.client.resolve_alias(&alias).await.ok()??,
                _ => return None,
            };
            return is(&|room| room.room_id == id);
        }
        let named = |room: &RoomLive| {
            room.room().name.as_deref().is_some_and(|name| name.trim().to_lowercase() == text.to_lowercase())
        };
        is(&named).or_else(|| {
            let at = text.trim_end_matches('.').parse::<usize>().ok()?.checked_sub(1)?;
            rooms.get(at).cloned()
        })
    }
}

/// A room's Matrix id, alias, or a link to either.
fn address(text: &str) -> Option<MatrixId> {
    if text.starts_with('!') {
        return RoomId::parse(text).ok().map(MatrixId::Room);
    }
    if text.starts_with('#') {
        return RoomAliasId::parse(text).ok().map(MatrixId::RoomAlias);
    }
    let link = MatrixToUri::parse(text).map(|uri| uri.id().clone());
    link.or_else(|_| MatrixUri::parse(text).map(|uri| uri.id().clone())).ok()
}

pub(super) fn no_power(what: &str) -> Words {
    Words::new(format!(
        "That takes the power to {what} in the room, which you do not have. Ask its moderators."
    ))
}

fn not_managed() -> Words {
    Words::new(
        "I let no agents in here: the room is closed, or I have not been invited into it as it is now. Invite me again, then \
         repeat the command.",
    )
}

fn list_rooms(beginning: &str, rooms: &[Arc<RoomLive>]) -> Words {
    if rooms.is_empty() {
        return Words::new(beginning)
            .text("I am in no room yet in which you may invite or remove people. Invite me into one as you would a person.");
    }
    let named = rooms.iter().map(|room| {
        let room = room.room();
        let words = match &room.name {
            Some(name) => Words::default().bold(name).text(", number "),
            None => Words::new("A room without a name, number "),
        };
        words.code(room.catalog_id.to_string())
    });
    Words::new(beginning)
        .text("Put its name, number or address behind the command. I know these:")
        .numbered(named)
}
