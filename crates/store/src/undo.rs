//! What a claim took, kept with it: it is given back however much later, and after whatever restarts, it turns out that nothing
//! came of it.

use parlour_domain::{ids::AgentKey, quota::Window};
use ruma::OwnedUserId;
use serde::{Deserialize, Serialize};

use crate::{Charge, StoreError, Tx, value::from_json};

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Undo {
    charges: Vec<Charge>,
    taken: Vec<Window>,
    mentions: Option<Mentions>,
}

/// Whom the agent's last message named, before this one and with it.
#[derive(Debug, Serialize, Deserialize)]
struct Mentions {
    before: Vec<OwnedUserId>,
    now: Vec<OwnedUserId>,
}

impl Undo {
    pub(crate) fn of(charges: &[Charge], taken: Vec<Window>) -> Self {
        Self { charges: charges.to_vec(), taken, mentions: None }
    }

    pub(crate) fn with_mentions(self, before: Vec<OwnedUserId>, now: Vec<OwnedUserId>) -> Self {
        Self { mentions: Some(Mentions { before, now }), ..self }
    }

    /// Of a claim from before this was kept there is nothing.
    pub(crate) fn read(column: Option<String>) -> Result<Self, StoreError> {
        column.map_or_else(|| Ok(Self::default()), |text| from_json(&text, "undo"))
    }

    pub(crate) fn to_column(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Tx<'_> {
    /// Returns whom the agent's last message named, where that is another again: not if it has named others since.
    pub(crate) fn undo(&self, agent: AgentKey, undo: Undo) -> Result<Option<Vec<OwnedUserId>>, StoreError> {
        self.refund(&undo.charges, &undo.taken)?;
        let Some(Mentions { before, now }) = undo.mentions else { return Ok(None) };
        if self.last_mentions(agent)? != now {
            return Ok(None);
        }
        self.set_last_mentions(agent, &before)?;
        Ok(Some(before))
    }
}
