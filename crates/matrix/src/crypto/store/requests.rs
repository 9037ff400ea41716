//! Requests for keys and secrets, and secrets that came in. Parlour sends none and asks for none, but the SDK's store
//! is whole only with them.

use matrix_sdk_crypto::{GossipRequest, SecretInfo, store::types::SecretsInboxItem};
use ruma::{TransactionId, events::secret::request::SecretName};
use zeroize::Zeroizing;

use super::{
    PuppetStore,
    table::{Kind, Outcome, key, prefix},
};
use crate::crypto::rows::RowWrite;

impl PuppetStore {
    pub(super) async fn request(&self, id: &TransactionId) -> Outcome<Option<GossipRequest>> {
        self.table.get(Kind::Request, id.as_bytes()).await
    }

    pub(super) async fn request_by_info(&self, info: &SecretInfo) -> Outcome<Option<GossipRequest>> {
        let all: Vec<GossipRequest> = self.table.all(Kind::Request, b"").await?;
        Ok(all.into_iter().find(|request| request.info == *info))
    }

    pub(super) async fn unsent_requests(&self) -> Outcome<Vec<GossipRequest>> {
        let all: Vec<GossipRequest> = self.table.all(Kind::Request, b"").await?;
        Ok(all.into_iter().filter(|request| !request.sent_out).collect())
    }

    pub(super) fn write_requests(&self, requests: &[GossipRequest]) -> Outcome<Vec<RowWrite>> {
        let row = |r: &GossipRequest| self.table.write(Kind::Request, r.request_id.as_bytes().to_vec(), r);
        requests.iter().map(row).collect()
    }

    pub(super) async fn secrets(&self, name: &SecretName) -> Outcome<Vec<Zeroizing<String>>> {
        let all: Vec<String> = self.table.all(Kind::Secret, &prefix(&[name.as_str()])).await?;
        Ok(all.into_iter().map(Zeroizing::new).collect())
    }

    /// Each under a number of its own, in the order they came.
    pub(super) async fn write_secrets(&self, items: &[SecretsInboxItem]) -> Outcome<Vec<RowWrite>> {
        let mut rows = vec![];
        for (i, item) in items.iter().enumerate() {
            let name = item.secret_name.as_str();
            let last = self.table.scan::<String>(Kind::Secret, &prefix(&[name])).await?.pop();
            let last = last.and_then(|(row, _)| row.last_chunk().map(parse)).unwrap_or(0);
            let row = key(&[name], &format!("{:010}", last + 1 + i as u64));
            rows.push(self.table.write(Kind::Secret, row, &*item.secret)?);
        }
        Ok(rows)
    }

    pub(super) async fn delete_secrets(&self, name: &SecretName) -> Outcome<()> {
        for (row, _) in self.table.scan::<String>(Kind::Secret, &prefix(&[name.as_str()])).await? {
            self.table.delete(Kind::Secret, row);
        }
        Ok(())
    }
}

fn parse(digits: &[u8; 10]) -> u64 {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}
