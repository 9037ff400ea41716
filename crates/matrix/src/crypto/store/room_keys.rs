//! Room keys: those of others, and the one per room that is our own.

use matrix_sdk_crypto::{
    olm::{
        Curve25519PublicKey, InboundGroupSession, OutboundGroupSession, PickledInboundGroupSession,
        SenderDataType,
    },
    store::types::RoomKeyCounts,
};
use ruma::RoomId;
use serde::{Deserialize, Serialize};

use super::{
    PuppetStore,
    table::{CryptoRowError, Kind, Outcome, key, prefix},
};
use crate::crypto::rows::RowWrite;

/// Room keys that are kept ready in memory. A puppet listens to few people at a time, and a message costs a read and an
/// unpickling without it.
const RECENT: usize = 8;

/// The last room keys that were used, the newest last. Clones of a key share their state.
#[derive(Default)]
pub(super) struct Recent(Vec<InboundGroupSession>);

impl Recent {
    fn get(&self, room: &RoomId, session_id: &str) -> Option<InboundGroupSession> {
        self.0.iter().find(|s| s.session_id() == session_id && s.room_id() == room).cloned()
    }

    fn put(&mut self, session: InboundGroupSession) {
        self.forget(session.room_id(), session.session_id());
        if self.0.len() == RECENT {
            self.0.remove(0);
        }
        self.0.push(session);
    }

    fn forget(&mut self, room: &RoomId, session_id: &str) {
        self.0.retain(|s| s.session_id() != session_id || s.room_id() != room);
    }
}

/// An entry of [`Kind::InboundBySender`].
#[derive(Serialize, Deserialize)]
struct OfSender {
    room: ruma::OwnedRoomId,
    sender_data: u8,
}

impl PuppetStore {
    pub(super) async fn inbound(
        &self,
        room: &RoomId,
        session_id: &str,
    ) -> Outcome<Option<InboundGroupSession>> {
        if let Some(session) = self.recent.lock().get(room, session_id) {
            return Ok(Some(session));
        }
        let row = key(&[room.as_str()], session_id);
        let Some(pickle) = self.table.get(Kind::Inbound, &row).await? else { return Ok(None) };
        let session = unpickle(pickle)?;
        self.recent.lock().put(session.clone());
        Ok(Some(session))
    }

    pub(super) async fn inbound_all(&self, beginning: &[u8]) -> Outcome<Vec<InboundGroupSession>> {
        self.table.all(Kind::Inbound, beginning).await?.into_iter().map(unpickle).collect()
    }

    /// All that can be read, where some may be damaged.
    pub(in crate::crypto) async fn readable_inbound(&self) -> Outcome<Vec<InboundGroupSession>> {
        let rows = self.table.scan_readable(Kind::Inbound).await?;
        Ok(rows.into_iter().filter_map(|pickle| unpickle(pickle).ok()).collect())
    }

    pub(super) async fn inbound_of_room(&self, room: &RoomId) -> Outcome<Vec<InboundGroupSession>> {
        self.inbound_all(&prefix(&[room.as_str()])).await
    }

    /// Rows for one room key, and what the memory keeps of it.
    pub(super) async fn write_inbound(&self, session: &InboundGroupSession) -> Outcome<[RowWrite; 2]> {
        let (room, id) = (session.room_id(), session.session_id());
        let index = OfSender { room: room.to_owned(), sender_data: session.sender_data_type() as u8 };
        let sender = session.sender_key().to_base64();
        let rows = [
            self.table.write(Kind::Inbound, key(&[room.as_str()], id), &session.pickle().await)?,
            self.table.write(Kind::InboundBySender, key(&[&sender], id), &index)?,
        ];
        let mut recent = self.recent.lock();
        if recent.get(room, id).is_some() {
            recent.put(session.clone());
        }
        Ok(rows)
    }

    /// A batch of one sender's keys in a state of trust, by session id.
    pub(super) async fn inbound_of_sender(
        &self,
        sender: Curve25519PublicKey,
        sender_data: SenderDataType,
        after: Option<String>,
        limit: usize,
    ) -> Outcome<Vec<InboundGroupSession>> {
        let beginning = prefix(&[&sender.to_base64()]);
        let index: Vec<(Vec<u8>, OfSender)> = self.table.scan(Kind::InboundBySender, &beginning).await?;
        let after = after.map(|id| [beginning.clone(), id.into_bytes()].concat()).unwrap_or_default();
        let wanted =
            index.into_iter().filter(|(row, of)| *row > after && of.sender_data == sender_data as u8);
        let mut batch = vec![];
        for (row, of) in wanted.take(limit) {
            let id = String::from_utf8_lossy(&row[beginning.len()..]).into_owned();
            batch.extend(self.inbound(&of.room, &id).await?);
        }
        Ok(batch)
    }

    // Parlour makes no backups on the homeserver, so what the SDK asks about them is answered the simple way.

    pub(super) async fn inbound_not_backed_up(&self, limit: usize) -> Outcome<Vec<InboundGroupSession>> {
        let all = self.inbound_all(b"").await?;
        Ok(all.into_iter().filter(|s| !s.backed_up()).take(limit).collect())
    }

    pub(super) async fn count_inbound(&self) -> Outcome<RoomKeyCounts> {
        let all = self.inbound_all(b"").await?;
        Ok(RoomKeyCounts { total: all.len(), backed_up: all.iter().filter(|s| s.backed_up()).count() })
    }

    pub(super) async fn set_backed_up(&self, row: Vec<u8>, backed_up: bool) -> Outcome<()> {
        let Some(mut pickle) = self.table.get::<PickledInboundGroupSession>(Kind::Inbound, &row).await?
        else {
            return Ok(());
        };
        pickle.backed_up = backed_up;
        self.table.put(Kind::Inbound, row, &pickle)?;
        let session = unpickle(pickle)?;
        self.recent.lock().forget(session.room_id(), session.session_id());
        Ok(())
    }

    pub(super) async fn reset_backed_up(&self) -> Outcome<()> {
        for (row, _) in self.table.scan::<PickledInboundGroupSession>(Kind::Inbound, b"").await? {
            self.set_backed_up(row, false).await?;
        }
        Ok(())
    }

    /// Our own key of a room, see [`OwnRoomKeys`](super::OwnRoomKeys).
    pub(super) async fn outbound(&self, room: &RoomId) -> Outcome<Option<OutboundGroupSession>> {
        if let Some(session) = self.outbound.lock().get(room).cloned() {
            return Ok(Some(session));
        }
        let Some(pickle) = self.table.get(Kind::Outbound, room.as_bytes()).await? else { return Ok(None) };
        let account = self.static_account()?;
        let session = OutboundGroupSession::from_pickle(account.device_id, account.identity_keys, pickle)
            .map_err(|_| CryptoRowError::Unreadable("outbound room key"))?;
        self.outbound.lock().insert(room.to_owned(), session.clone());
        Ok(Some(session))
    }

    pub(super) async fn write_outbound(&self, session: &OutboundGroupSession) -> Outcome<RowWrite> {
        let row = session.room_id().as_bytes().to_vec();
        let write = self.table.write(Kind::Outbound, row, &session.pickle().await)?;
        self.outbound.lock().insert(session.room_id().to_owned(), session.clone());
        Ok(write)
    }
}

fn unpickle(pickle: PickledInboundGroupSession) -> Outcome<InboundGroupSession> {
    InboundGroupSession::from_pickle(pickle).map_err(|_| CryptoRowError::Unreadable("room key"))
}
