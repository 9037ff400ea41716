//! Agents' places in rooms: stretches of membership and the inbox cursor.

use std::collections::{BTreeMap, BTreeSet};

use parlour_domain::{
    ids::{AgentKey, Pos, RoomKey, Seq},
    inbox::Ack,
    seat::{Context, Seat},
    visibility::{Membership, Period},
};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Reader, StoreError, Tx,
    value::{from_json, json, text},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatRow {
    pub agent: AgentKey,
    pub seat: Seat,
    /// The join was answered, its event is still to come: its place in the order is not final.
    pub provisional: bool,
    /// Taken out for idleness.
    pub away: bool,
}

const COLUMNS: &str =
    "agent_key, room_key, periods, provisional, acked_seq, context_after, context_until, opened, away, hides";

/// Context has a cursor of its own; see [`Context`].
const ACKNOWLEDGE: &str = "UPDATE seats SET acked_seq = max(acked_seq, ?2),
    context_after = max(context_after, min(context_until, ?2)) WHERE agent_key = ?1";

impl Tx<'_> {
    /// The homeserver answered a join: in the room from its newest settled message on, until the join's own event says
    /// where in the order it really was. Already in: nothing changes.
    pub fn seat_taken(&self, agent: AgentKey, room: RoomKey) -> Result<SeatRow, StoreError> {
        let joined = Period { membership: Membership::Joined, after: self.settled(room)?, until: None };
        let mut row = match self.seat(agent, room)? {
            Some(row) => row,
            None => self.new_seat(agent, room, joined)?,
        };
        if !row.seat.present() {
            self.forget_periods(&mut row.seat)?;
            row.seat.periods.push(joined);
            row.provisional = true;
            row.seat.opened = false;
        }
        row.away = false;
        self.put_seat(&row)?;
        Ok(row)
    }

    /// The event of a join has come: what arrived before it was said before the agent was in. Messages known only from
    /// the answer to their send come after it: their echoes are still to come.
    pub fn seat_confirmed(&self, agent: AgentKey, room: RoomKey) -> Result<SeatRow, StoreError> {
        let mut row = self.seat_taken(agent, room)?;
        if row.provisional {
            let after = self.settled(room)?;
            if let Some(period) = row.seat.periods.iter_mut().rev().find(|p| p.until.is_none()) {
                let before = std::mem::replace(&mut period.after, after);
                self.keep_as_context(&mut row, (before, after))?;
            }
            row.provisional = false;
            self.put_seat(&row)?;
        }
        Ok(row)
    }

    /// What came between the answer to a join and the join's event was in the inbox of an agent that waits already, and
    /// stays there: as context, since it was said before.
    fn keep_as_context(&self, row: &mut SeatRow, (after, until): (Pos, Pos)) -> Result<(), StoreError> {
        if !row.seat.opened {
            return Ok(()); // the first wait will choose
        }
        let mut query = self.0.prepare_cached(
            "SELECT min(seq), max(seq) FROM log WHERE room_key = ?1 AND pos > ?2 AND pos <= ?3 AND seq > ?4",
        )?;
        let place = (row.seat.room.0, after.0, until.0, row.seat.acked.0);
        let came: (Option<i64>, Option<i64>) =
            query.query_row(place, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (Some(first), Some(last)) = came else { return Ok(()) };
        let unread = row.seat.context.filter(|c| c.after < c.until);
        let context = Context { after: unread.map_or(Seq(first - 1), |c| c.after), until: Seq(last) };
        row.seat.context = Some(context);
        self.seat_opened(row.agent, row.seat.room, row.seat.context, row.seat.hides)
    }

    /// In the room from a known place in its order on: what stands up to there was said before.
    pub fn seat_placed(&self, agent: AgentKey, room: RoomKey, after: Pos) -> Result<SeatRow, StoreError> {
        let mut row = self.seat_taken(agent, room)?;
        if let Some(period) = row.seat.periods.iter_mut().rev().find(|p| p.until.is_none()) {
            period.after = after;
        }
        row.provisional = false;
        self.put_seat(&row)?;
        Ok(row)
    }

    /// Out of the room, by itself or by others. `None` where it was not in.
    pub fn seat_left(
        &self,
        agent: AgentKey,
        room: RoomKey,
        away: bool,
    ) -> Result<Option<SeatRow>, StoreError> {
        let Some(mut row) = self.seat(agent, room)?.filter(|row| row.seat.present()) else {
            return Ok(None);
        };
        let last = self.settled(room)?;
        for period in row.seat.periods.iter_mut().filter(|p| p.until.is_none()) {
            period.until = Some(last);
        }
        row.provisional = false;
        row.away = away;
        self.put_seat(&row)?;
        Ok(Some(row))
    }

    /// Not to be put back any more.
    pub fn seat_given_up(&self, agent: AgentKey, room: RoomKey) -> Result<(), StoreError> {
        let set = "UPDATE seats SET away = 0 WHERE agent_key = ?1 AND room_key = ?2";
        self.0.prepare_cached(set)?.execute((agent.0, room.0))?;
        Ok(())
    }

    /// The first wait since the entry has covered the room. `hides`: something was said before that the agent cannot
    /// decrypt.
    pub fn seat_opened(
        &self,
        agent: AgentKey,
        room: RoomKey,
        context: Option<Context>,
        hides: bool,
    ) -> Result<(), StoreError> {
        let set = "UPDATE seats SET opened = 1, context_after = ?3, context_until = ?4, hides = ?5
            WHERE agent_key = ?1 AND room_key = ?2";
        let (after, until) = (context.map(|c| c.after.0), context.map(|c| c.until.0));
        self.0.prepare_cached(set)?.execute((agent.0, room.0, after, until, hides))?;
        Ok(())
    }

    /// The agent has acknowledged a message of the room: it was told that there is something it cannot decrypt.
    pub fn hiding_told(&self, agent: AgentKey, room: RoomKey) -> Result<(), StoreError> {
        let set = "UPDATE seats SET hides = 0 WHERE agent_key = ?1 AND room_key = ?2";
        self.0.prepare_cached(set)?.execute((agent.0, room.0))?;
        Ok(())
    }

    /// Moves the cursors of one room or of all; never back.
    pub fn acknowledge(&self, agent: AgentKey, ack: Ack) -> Result<(), StoreError> {
        let up_to = ack.up_to.0;
        match ack.room {
            Some(room) => self
                .0
                .prepare_cached(&format!("{ACKNOWLEDGE} AND room_key = ?3"))?
                .execute((agent.0, up_to, room.0))?,
            None => self.0.prepare_cached(ACKNOWLEDGE)?.execute((agent.0, up_to))?,
        };
        self.acknowledge_late(agent, ack.up_to, ack.room)
    }

    pub(crate) fn seat(&self, agent: AgentKey, room: RoomKey) -> Result<Option<SeatRow>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM seats WHERE agent_key = ?1 AND room_key = ?2");
        let mut query = self.0.prepare_cached(&query)?;
        let row = query.query_row((agent.0, room.0), |row| Ok(seat_row(row))).optional()?.transpose()?;
        row.map(|row| with_exceptions(self.0, row)).transpose()
    }

    /// Nothing that has left the log before can be new to a newcomer: its cursor starts there, or counting what it
    /// missed would walk through all that ever left. What may still turn out to come after the join stays ahead of it.
    fn new_seat(&self, agent: AgentKey, room: RoomKey, joined: Period) -> Result<SeatRow, StoreError> {
        let mut seat = Seat::new(room, joined);
        let mut first =
            self.0.prepare_cached("SELECT min(seq) FROM log WHERE room_key = ?1 AND echoed = 0")?;
        let unsettled: Option<i64> = first.query_row([room.0], |row| row.get(0))?;
        let evicted = crate::log::evicted_through(self.0, room)?;
        seat.acked = unsettled.map_or(evicted, |first| evicted.min(Seq(first - 1)));
        // what it cannot read, or was shown, may have been noted while it came in
        with_exceptions(self.0, SeatRow { agent, seat, provisional: true, away: false })
    }

    /// Stays of which nothing is left, neither something said nor a count of what was missed: an agent that comes and goes for
    /// years would carry thousands.
    fn forget_periods(&self, seat: &mut Seat) -> Result<(), StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM log WHERE room_key = ?1 AND pos > ?2 AND pos <= ?3)
                 OR EXISTS (SELECT 1 FROM edits WHERE room_key = ?1 AND pos > ?2 AND pos <= ?3)
                 OR EXISTS (SELECT 1 FROM waiting WHERE room_key = ?1 AND pos > ?2 AND pos <= ?3)
                 OR EXISTS (SELECT 1 FROM evicted WHERE room_key = ?1 AND seq > ?4 AND pos > ?2 AND pos <= ?3)",
        )?;
        let mut kept = vec![];
        for period in std::mem::take(&mut seat.periods) {
            let until = period.until.map_or(i64::MAX, |p| p.0);
            if query.query_row((seat.room.0, period.after.0, until, seat.acked.0), |row| row.get(0))? {
                kept.push(period);
            }
        }
        seat.periods = kept;
        Ok(())
    }

    fn put_seat(&self, row: &SeatRow) -> Result<(), StoreError> {
        let put = "INSERT INTO seats (agent_key, room_key, periods, provisional, opened, away, acked_seq)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT DO UPDATE SET periods = ?3, provisional = ?4, opened = ?5, away = ?6";
        self.0.prepare_cached(put)?.execute((
            row.agent.0,
            row.seat.room.0,
            json(&row.seat.periods)?,
            row.provisional,
            row.seat.opened,
            row.away,
            row.seat.acked.0,
        ))?;
        Ok(())
    }
}

impl Reader<'_> {
    /// The seats of all agents that are not gone.
    pub fn seats(&self) -> Result<Vec<SeatRow>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM seats ORDER BY agent_key, room_key");
        let mut query = self.0.prepare_cached(&query)?;
        let rows = query.query_and_then([], seat_row)?;
        rows.map(|row| with_exceptions(self.0, row?)).collect()
    }

    /// How many messages of others left the log while `agent` was in the room and had not acknowledged them: of those
    /// that arrived up to and with `through`, and but for those that it still `held`.
    pub fn dropped(
        &self,
        agent: AgentKey,
        seat: &Seat,
        through: Seq,
        held: &[Seq],
    ) -> Result<usize, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT count(*) FROM evicted WHERE room_key = ?1 AND seq > ?2 AND seq <= ?6 AND agent_key IS NOT ?3
             AND pos > ?4 AND pos <= ?5 AND seq NOT IN (SELECT value FROM json_each(?7))",
        )?;
        let held = json(&held)?;
        let mut dropped = 0;
        for period in seat.periods.iter().filter(|p| p.membership == Membership::Joined) {
            let until = period.until.map_or(i64::MAX, |p| p.0);
            let row = (seat.room.0, seat.acked.0, agent.0, period.after.0, until, through.0, &held);
            dropped += query.query_row(row, |row| row.get::<_, usize>(0))?;
        }
        Ok(dropped)
    }
}

fn with_exceptions(db: &rusqlite::Connection, mut row: SeatRow) -> Result<SeatRow, StoreError> {
    let now = crate::encrypted::exceptions(db, row.agent, row.seat.room)?;
    (row.seat.withheld, row.seat.shown, row.seat.late) = (now.withheld, now.shown, now.late);
    Ok(row)
}

fn seat_row(row: &Row<'_>) -> Result<SeatRow, StoreError> {
    let context: (Option<i64>, Option<i64>) = (row.get("context_after")?, row.get("context_until")?);
    Ok(SeatRow {
        agent: AgentKey(row.get("agent_key")?),
        seat: Seat {
            room: RoomKey(row.get("room_key")?),
            periods: from_json(&text(row, "periods")?, "seats.periods")?,
            acked: Seq(row.get("acked_seq")?),
            context: context
                .0
                .zip(context.1)
                .map(|(after, until)| Context { after: Seq(after), until: Seq(until) }),
            opened: row.get("opened")?,
            hides: row.get("hides")?,
            withheld: BTreeSet::new(),
            shown: BTreeSet::new(),
            late: BTreeMap::new(),
        },
        provisional: row.get("provisional")?,
        away: row.get("away")?,
    })
}
