use parlour_domain::quota::{RetryAfter, Rule, Window, give_back, take_all};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

use crate::{Reader, StoreError, Tx};

/// One use of what `subject` is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// A kind and a key, such as `lobby-minute:7`.
    pub subject: String,
    pub rule: Rule,
}

/// At least one of the quotas is used up; none was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdrawn(pub RetryAfter);

impl Tx<'_> {
    /// Charges all or none.
    pub fn charge(
        &self,
        charges: &[Charge],
        now_ms: i64,
    ) -> Result<Result<Vec<Window>, Overdrawn>, StoreError> {
        let windows = charges.iter().map(|c| self.window(&c.subject)).collect::<Result<Vec<_>, _>>()?;
        let uses: Vec<(Option<Window>, Rule)> =
            windows.into_iter().zip(charges.iter().map(|c| c.rule)).collect();
        let taken = match take_all(&uses, now_ms) {
            Ok(taken) => taken,
            Err(retry_after) => return Ok(Err(Overdrawn(retry_after))),
        };
        for (charge, window) in charges.iter().zip(&taken) {
            self.put_window(charge, *window)?;
        }
        Ok(Ok(taken))
    }

    /// Gives back what was charged for something that came to nothing.
    pub fn refund(&self, charges: &[Charge], taken: &[Window]) -> Result<(), StoreError> {
        for (charge, window) in charges.iter().zip(taken) {
            match give_back(self.window(&charge.subject)?, *window) {
                Some(left) => self.put_window(charge, left)?,
                None => {
                    let forget = "DELETE FROM quotas WHERE subject = ?1";
                    self.0.prepare_cached(forget)?.execute([&charge.subject])?;
                }
            }
        }
        Ok(())
    }

    /// Forgets windows that are over.
    pub fn forget_quotas(&self, now_ms: i64) -> Result<usize, StoreError> {
        let forget = "DELETE FROM quotas WHERE started_at_ms + length_ms <= ?1";
        Ok(self.0.prepare_cached(forget)?.execute([now_ms])?)
    }

    fn window(&self, subject: &str) -> Result<Option<Window>, StoreError> {
        window(self.0, subject)
    }

    fn put_window(&self, charge: &Charge, window: Window) -> Result<(), StoreError> {
        let put = "INSERT INTO quotas (subject, started_at_ms, length_ms, used) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET started_at_ms = ?2, length_ms = ?3, used = ?4";
        let row = (&charge.subject, window.started_at_ms, charge.rule.length_ms, window.count);
        self.0.prepare_cached(put)?.execute(row)?;
        Ok(())
    }
}

impl Reader<'_> {
    /// What was taken, in the order asked; the window may be over.
    pub fn taken(&self, charges: &[Charge]) -> Result<Vec<Option<Window>>, StoreError> {
        charges.iter().map(|charge| window(self.0, &charge.subject)).collect()
    }

    /// The subjects of a kind whose windows count now, the most used first, at most so many. A kind is what its subjects
    /// begin with, up to the colon.
    pub fn most_taken(
        &self,
        kind: &str,
        rule: Rule,
        now_ms: i64,
        most: usize,
    ) -> Result<Vec<(String, Window)>, StoreError> {
        let mut query = self.0.prepare_cached(OF_A_KIND)?;
        let rows = query.query_map([kind], |row| Ok((row.get("subject")?, window_of(row)?)))?;
        let counts = |window| rule.current(Some(window), now_ms).is_some();
        let rows = rows.filter(|row| row.as_ref().map_or(true, |(_, window)| counts(*window)));
        Ok(rows.take(most).collect::<Result<_, _>>()?)
    }
}

/// The semicolon is what comes after the colon.
const OF_A_KIND: &str = "SELECT subject, started_at_ms, used FROM quotas
    WHERE subject >= ?1 || ':' AND subject < ?1 || ';' ORDER BY used DESC, started_at_ms DESC, subject";

fn window(db: &Connection, subject: &str) -> Result<Option<Window>, StoreError> {
    let mut query = db.prepare_cached("SELECT started_at_ms, used FROM quotas WHERE subject = ?1")?;
    Ok(query.query_row([subject], window_of).optional()?)
}

fn window_of(row: &Row<'_>) -> rusqlite::Result<Window> {
    Ok(Window { started_at_ms: row.get("started_at_ms")?, count: row.get("used")? })
}
