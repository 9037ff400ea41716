use parlour_domain::fault::Fault;
use parlour_store::{AuditAgent, AuditRow};
use ruma::OwnedUserId;

use crate::{
    app::App,
    view::{AuditEntry, Audited},
};

impl App {
    /// What was done within so long, newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn audit(&self, within_ms: i64, limit: u32) -> Result<Vec<AuditEntry>, Fault> {
        let since = self.now().saturating_sub(within_ms);
        let rows = self.store.read(move |r| r.audit(since, limit)).await?;
        Ok(rows.into_iter().map(entry).collect())
    }
}

fn entry(row: AuditRow) -> AuditEntry {
    AuditEntry {
        number: row.id,
        at_ms: row.at_ms,
        deed: row.deed.as_str(),
        by: row.by,
        doer: one(row.by_agent, row.by_user),
        whom: one(row.agent, row.user),
        room: row.room.map(|room| (room.catalog_id, room.room_id)),
    }
}

fn one(agent: Option<AuditAgent>, user: Option<OwnedUserId>) -> Option<Audited> {
    let agent = agent.map(|a| Audited::Agent { id: a.id, display_name: a.display_name });
    agent.or_else(|| user.map(Audited::Person))
}
