//! People who knock on rooms that agents made.

use parlour_domain::{
    ids::{AgentId, RoomKey},
    knock::Answer,
};
use ruma::{OwnedUserId, UserId};
use rusqlite::Row;

use crate::{
    By, Deed, Reader, StoreError, Tx,
    audit::Whom,
    value::{agent_id, id, text},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonKnock {
    pub room: RoomKey,
    pub user_id: OwnedUserId,
    /// What the room's owner knows it by; nobody else's.
    pub id: AgentId,
    pub at_ms: i64,
    /// A wait of the owner has told of it.
    pub told: bool,
}

impl Tx<'_> {
    /// A knock that has just come; a lapsed one of the same person ends by it.
    pub fn put_person_knock(&self, knock: &PersonKnock) -> Result<(), StoreError> {
        let put = "INSERT INTO person_knocks (room_key, user_id, knock_id, at_ms) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (room_key, user_id) DO UPDATE SET knock_id = ?3, at_ms = ?4, told = 0";
        let row = (knock.room.0, knock.user_id.as_str(), knock.id.0.as_bytes(), knock.at_ms);
        self.0.prepare_cached(put)?.execute(row)?;
        Ok(())
    }

    /// Answered, or taken back. The event of an answer tells of it, too: whichever is first counts.
    pub fn answer_person_knock(
        &self,
        room: RoomKey,
        user: &UserId,
        answer: Answer,
        by: &By,
    ) -> Result<(), StoreError> {
        let there = self.drop_person_knock(room, user)?;
        let whom = Whom { user: Some(user), ..Whom::room(room) };
        match answer {
            Answer::Admitted if there => self.audit(Deed::KnockAdmitted, by, whom),
            Answer::Declined if there => self.audit(Deed::KnockDeclined, by, whom),
            Answer::None | Answer::Admitted | Answer::Declined => Ok(()),
        }
    }

    /// `false`: it was gone before.
    fn drop_person_knock(&self, room: RoomKey, user: &UserId) -> Result<bool, StoreError> {
        let drop = "DELETE FROM person_knocks WHERE room_key = ?1 AND user_id = ?2";
        Ok(self.0.prepare_cached(drop)?.execute((room.0, user.as_str()))? > 0)
    }

    pub fn person_knocks_told(&self, told: &[AgentId]) -> Result<(), StoreError> {
        for id in told {
            let set = "UPDATE person_knocks SET told = 1 WHERE knock_id = ?1";
            self.0.prepare_cached(set)?.execute([id.0.as_bytes()])?;
        }
        Ok(())
    }
}

impl Reader<'_> {
    pub fn person_knocks(&self) -> Result<Vec<PersonKnock>, StoreError> {
        let row = |row: &Row<'_>| {
            Ok(PersonKnock {
                room: RoomKey(row.get("room_key")?),
                user_id: id(&text(row, "user_id")?, "person_knocks.user_id")?,
                id: agent_id(row, "knock_id")?,
                at_ms: row.get("at_ms")?,
                told: row.get("told")?,
            })
        };
        self.0.prepare_cached("SELECT * FROM person_knocks")?.query_and_then([], row)?.collect()
    }
}
