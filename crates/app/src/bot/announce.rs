//! Commands announced to clients that can offer them (MSC4391). It takes the power to set state; everything works
//! without.

use parlour_matrix::{HsError, events::Announced};
use parlour_store::Tx;
use sha2::{Digest, Sha256};

use super::commands::ANNOUNCED;
use crate::{app::App, live::RoomLive};

impl App {
    pub(super) async fn announce_all(&self) {
        let digest = digest();
        for (key, known) in self.bot.all() {
            if known.announced.as_deref() == Some(&digest) {
                continue;
            }
            let Some(room) = self.rooms.get(key) else { continue };
            let may = room.power().is_some_and(|p| p.may_set(&self.settings.bot, Announced::event_type()));
            if !may || !self.bot_is_in(&room) {
                continue;
            }
            match self.announce_in(&room).await {
                Ok(()) => self.note_announced(&room, digest.clone()).await,
                Err(error) => {
                    tracing::info!(%error, room = %room.room_id, "the bot's commands cannot be announced");
                }
            }
        }
    }

    async fn announce_in(&self, room: &RoomLive) -> Result<(), HsError> {
        let bot = &self.settings.bot;
        for command in &ANNOUNCED {
            let (key, content) = (command.state_key(bot), command.content());
            self.client.send_state(bot, &room.room_id, Announced::event_type(), &key, &content).await?;
        }
        Ok(())
    }

    async fn note_announced(&self, room: &RoomLive, digest: Vec<u8>) {
        let (key, noted) = (room.key, digest.clone());
        match self.store.write(move |tx: &Tx<'_>| tx.bot_announced(key, &noted)).await {
            Ok(()) => self.bot.announced(key, digest),
            Err(error) => tracing::warn!(%error, "cannot note that commands were announced"),
        }
    }
}

/// Changes with the commands.
fn digest() -> Vec<u8> {
    let mut hash = Sha256::new();
    ANNOUNCED.iter().for_each(|command| hash.update(command.content().to_string().as_bytes()));
    hash.finalize().to_vec()
}
