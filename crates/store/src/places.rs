//! Places in a room's order.
//!
//! `head` is the last place given, `settled` the last that the homeserver's own order has confirmed: an event that came
//! from it, or a message of ours whose echo came while nothing had overtaken it. What stands behind `settled` is known
//! from answers only; its echo is still to come, after everything that has come so far.

use parlour_domain::{
    ids::{Pos, RoomKey},
    visibility::Period,
};

use crate::{
    StoreError, Tx,
    value::{from_json, json},
};

/// Older messages were moved down to make room: everything at or before `last`, by `by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    last: i64,
    by: i64,
}

impl Moved {
    pub(crate) fn apply(self, pos: &mut Pos) {
        if pos.0 <= self.last {
            pos.0 -= self.by;
        }
    }
}

impl Tx<'_> {
    /// A new place at the end. `settled`: of an event that the homeserver has put there.
    pub(crate) fn next_place(&self, room: RoomKey, settled: bool) -> Result<Pos, StoreError> {
        self.next_places(room, settled, 1).map(|places| places[0])
    }

    fn next_places(&self, room: RoomKey, settled: bool, count: i64) -> Result<Vec<Pos>, StoreError> {
        let next =
            "UPDATE rooms SET head_pos = head_pos + ?2, settled_pos = iif(?3, head_pos + ?2, settled_pos)
            WHERE room_key = ?1 RETURNING head_pos";
        let mut next = self.0.prepare_cached(next)?;
        let head: i64 = next.query_row((room.0, count * Pos::STEP, settled), |row| row.get(0))?;
        Ok((0..count).rev().map(|n| Pos(head - n * Pos::STEP)).collect())
    }

    /// The echo of a message at `pos` has come: where it stays. If something that the homeserver sent before has a
    /// later place, it goes to the end.
    pub(crate) fn settle_place(&self, room: RoomKey, pos: Pos) -> Result<Pos, StoreError> {
        if pos <= self.settled(room)? {
            return self.next_place(room, true);
        }
        let set = "UPDATE rooms SET settled_pos = ?2, head_pos = max(head_pos, ?2) WHERE room_key = ?1";
        self.0.prepare_cached(set)?.execute((room.0, pos.0))?;
        Ok(pos)
    }

    /// What the homeserver has put up to here has overtaken whatever stands before it and is known from an answer only.
    pub(crate) fn settled_through(&self, room: RoomKey, pos: Pos) -> Result<(), StoreError> {
        let set = "UPDATE rooms SET settled_pos = max(settled_pos, ?2) WHERE room_key = ?1";
        self.0.prepare_cached(set)?.execute((room.0, pos.0))?;
        Ok(())
    }

    /// Where something stands that the homeserver tells of now, without being a message: after all that is settled.
    pub(crate) fn settled(&self, room: RoomKey) -> Result<Pos, StoreError> {
        let mut query = self.0.prepare_cached("SELECT settled_pos FROM rooms WHERE room_key = ?1")?;
        Ok(Pos(query.query_row([room.0], |row| row.get(0))?))
    }

    /// `count` places before `before`, after what precedes it; or at the end. They take the later half of what is
    /// free, so that history which is paged through backwards finds as much again before them. `lost`: they came after
    /// what is settled, and only the telling of them was missed. `given`: places that are taken by others already.
    pub(crate) fn places(
        &self,
        room: RoomKey,
        before: Option<Pos>,
        count: usize,
        (lost, given): (bool, &[Option<Pos>]),
    ) -> Result<(Vec<Pos>, Option<Moved>), StoreError> {
        let count = i64::try_from(count).unwrap_or(i64::MAX).min(i64::from(u32::MAX));
        let Some(before) = before else { return Ok((self.next_places(room, true, count)?, None)) };
        let Some(after) = self.place_before(room, before, lost)?.max(newest_before(given, before)) else {
            return Ok((down_from(before, Pos::STEP, count), None));
        };
        let free = before.0 - after;
        if free > count {
            let half = free / (2 * count.max(1));
            return Ok((down_from(before, half.max(1), count), None));
        }
        let moved = self.make_room(room, after, count)?;
        let step = (before.0 - after + moved.by) / (2 * count);
        Ok((down_from(before, step, count), Some(moved)))
    }

    /// The place of what comes before: a message; or, of what was lost, also something that is none but bounds periods,
    /// such as a join.
    fn place_before(&self, room: RoomKey, before: Pos, lost: bool) -> Result<Option<i64>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT max(pos) FROM (SELECT max(pos) AS pos FROM log WHERE room_key = ?1 AND pos < ?2
             UNION ALL SELECT max(pos) FROM edits WHERE room_key = ?1 AND pos < ?2
             UNION ALL SELECT max(pos) FROM waiting WHERE room_key = ?1 AND pos < ?2)",
        )?;
        let message: Option<i64> = query.query_row((room.0, before.0), |row| row.get(0))?;
        let settled = Some(self.settled(room)?.0).filter(|settled| lost && *settled < before.0);
        Ok(message.max(settled))
    }

    /// Moves everything up to `last` far enough down that nothing meets: messages, those that left, and the periods of
    /// seats. Places are 20 bits apart, so this takes three gaps within each other; the app's copies are wrong in
    /// order, not in content, until it reads the room again.
    fn make_room(&self, room: RoomKey, last: i64, count: i64) -> Result<Moved, StoreError> {
        let mut first = self.0.prepare_cached(
            "SELECT min(pos) FROM (SELECT min(pos) AS pos FROM log WHERE room_key = ?1
             UNION ALL SELECT min(pos) FROM edits WHERE room_key = ?1
             UNION ALL SELECT min(pos) FROM waiting WHERE room_key = ?1)",
        )?;
        let first: i64 = first.query_row([room.0], |row| row.get(0))?;
        let moved = Moved { last, by: (last - first + 1).max(2 * count * Pos::STEP) };
        tracing::warn!(room = room.0, "no room left between two messages: the older ones were moved");
        let gone =
            "UPDATE rooms SET sealed_gone = sealed_gone - ?3 WHERE room_key = ?1 AND sealed_gone <= ?2";
        self.0.prepare_cached(gone)?.execute((room.0, moved.last, moved.by))?;
        for table in ["log", "evicted", "edits", "waiting", "redactions"] {
            let shift = format!("UPDATE {table} SET pos = pos - ?3 WHERE room_key = ?1 AND pos <= ?2");
            self.0.prepare_cached(&shift)?.execute((room.0, moved.last, moved.by))?;
        }
        self.move_periods(room, moved)?;
        Ok(moved)
    }

    fn move_periods(&self, room: RoomKey, moved: Moved) -> Result<(), StoreError> {
        let mut query = self.0.prepare_cached("SELECT agent_key, periods FROM seats WHERE room_key = ?1")?;
        let rows = query.query_map([room.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let seats = rows.collect::<Result<Vec<(i64, String)>, _>>()?;
        for (agent, periods) in seats {
            let mut periods: Vec<Period> = from_json(&periods, "seats.periods")?;
            for period in &mut periods {
                moved.apply(&mut period.after);
                period.until.iter_mut().for_each(|until| moved.apply(until));
            }
            let set = "UPDATE seats SET periods = ?3 WHERE agent_key = ?1 AND room_key = ?2";
            self.0.prepare_cached(set)?.execute((agent, room.0, json(&periods)?))?;
        }
        Ok(())
    }
}

fn newest_before(given: &[Option<Pos>], before: Pos) -> Option<i64> {
    given.iter().flatten().filter(|pos| **pos < before).map(|pos| pos.0).max()
}

fn down_from(before: Pos, step: i64, count: i64) -> Vec<Pos> {
    (1..=count).rev().map(|n| Pos(before.0 - n * step)).collect()
}
