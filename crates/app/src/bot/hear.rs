//! Which of what is said is meant for the bot. Decided while events are read, so that no agent is given any of it.

use parlour_domain::{
    bot::prefix::{Setting, addressed},
    room::RoomKind,
};
use parlour_matrix::events::{NewMessage, Reaction};
use parlour_store::NewErrand;

use super::{Errand, press};
use crate::{app::App, live::RoomLive};

/// What the bot is called in rooms.
pub(crate) const NAME: &str = "Parlour";

/// Something that is not for agents.
#[derive(Debug)]
pub(crate) enum Meant {
    Errand(NewErrand),
    /// Said to the bot alone, and nothing to be done about.
    Nothing,
}

impl App {
    pub(crate) fn bot_is_in(&self, room: &RoomLive) -> bool {
        room.with_members(|m| m.is_joined(&self.settings.bot))
    }

    /// A chat of somebody with the bot alone.
    pub(crate) fn is_direct(&self, room: &RoomLive) -> bool {
        let others = || {
            let here = room.with_members(|m| m.with_membership(|m| m == "join" || m == "invite"));
            here.iter().filter(|user| **user != self.settings.bot).count()
        };
        self.bot.room(room.key).is_some_and(|r| r.direct) && others() <= 1
    }

    /// Whether people let agents in through the bot here.
    pub(crate) fn is_managed(&self, room: &RoomLive) -> bool {
        room.kind() == RoomKind::Private
            && room.state_read()
            && !room.closed()
            && !self.is_barred_room(&room.room_id)
            && self.bot.knows(room.key)
            && self.bot_is_in(room)
            && !self.is_direct(room)
    }

    /// What a message is to the bot; `None`: nothing, it is for everybody.
    pub(crate) fn meant_for_bot(&self, room: &RoomLive, message: &NewMessage) -> Option<Meant> {
        if self.is_ours(&message.head.sender) || !self.bot_is_in(room) {
            return None;
        }
        let direct = self.is_direct(room);
        let text = self.told(message, direct).filter(|_| message.typed);
        match text {
            Some(text) => Some(Meant::Errand(NewErrand {
                room: room.key,
                event_id: message.head.event_id.clone(),
                sender: message.head.sender.clone(),
                what: Errand::Said {
                    text,
                    mentions: message.body.mentions.clone(),
                    thread: message.body.thread.clone(),
                }
                .to_json(),
            })),
            None => direct.then_some(Meant::Nothing),
        }
    }

    fn told(&self, message: &NewMessage, direct: bool) -> Option<String> {
        let bot = &self.settings.bot;
        let mentioned = message.body.mentions.contains(bot);
        let names = [bot.as_str(), bot.localpart(), NAME];
        if let Some(command) = &message.command
            && (mentioned || direct || message.body.mentions.is_empty())
        {
            let command = command.trim_start_matches(['/', '!']);
            return Some(command.strip_prefix("agents").unwrap_or(command).trim().to_owned());
        }
        let setting = Setting { direct, mentioned, names: &names };
        addressed(&message.body.text, setting).map(str::to_owned)
    }

    /// A press of one of the two signs that the bot puts beside a knock. Whether there is one, and whose press counts,
    /// is looked at later.
    pub(crate) fn pressed_for_bot(&self, room: &RoomLive, reaction: &Reaction) -> Option<NewErrand> {
        let yes = press::answer(&reaction.key)?;
        let sender = &reaction.head.sender;
        let manager = !self.is_ours(sender) && self.is_managed(room) && self.manages(room, sender);
        manager.then(|| NewErrand {
            room: room.key,
            event_id: reaction.head.event_id.clone(),
            sender: sender.clone(),
            what: Errand::Pressed { target: reaction.target.clone(), yes }.to_json(),
        })
    }
}
