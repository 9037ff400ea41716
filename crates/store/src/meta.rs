use rusqlite::OptionalExtension;

use crate::{Reader, StoreError, Tx};

impl Tx<'_> {
    pub fn set_meta(&self, name: &str, value: &[u8]) -> Result<(), StoreError> {
        self.0
            .prepare_cached(
                "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2",
            )?
            .execute((name, value))?;
        Ok(())
    }
}

impl Reader<'_> {
    pub fn meta(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
        Ok(query.query_row([name], |row| row.get(0)).optional()?)
    }
}
