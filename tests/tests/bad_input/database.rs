//! What the bridge has written down.

use std::collections::BTreeMap;

use anyhow::Result;
use parlour_tests::Stack;
use rusqlite::{Connection, OpenFlags};

/// Tables that a request could have added to or taken from, row by row. Of agents what their own calls and their pictures
/// do not change.
const ROWS: [(&str, &str); 3] = [
    ("submissions", "hex(submission_id) || ' ' || agent_key || ' ' || ifnull(event_id, '')"),
    ("quotas", "subject || ' ' || started_at_ms || ' ' || used"),
    ("agents", "user_id || ' ' || state || ' ' || ifnull(hex(token_digest), '') || ' ' || last_mentions"),
];

/// Those rows, and how many there are in every other table but that of small facts, which has its own time.
pub(crate) fn written_down(stack: &Stack) -> Result<BTreeMap<String, Vec<String>>> {
    let database = Connection::open_with_flags(stack.bridge.database()?, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let strings = |query: &str| -> Result<Vec<String>> {
        Ok(database.prepare(query)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    };
    let tables = strings(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'meta'",
    )?;
    let mut all = BTreeMap::new();
    for table in tables {
        let rows = ROWS.iter().find(|(name, _)| *name == table);
        let what = rows.map_or("CAST(count(*) AS TEXT)", |(_, columns)| columns);
        all.insert(table.clone(), strings(&format!("SELECT {what} AS row FROM {table} ORDER BY row"))?);
    }
    Ok(all)
}
