//! The account itself, its cross-signing keys, and what else there is once per account.

use matrix_sdk_crypto::{
    Account,
    olm::{PickledAccount, PrivateCrossSigningIdentity, StaticAccountData},
    store::types::{BackupKeys, DehydratedDeviceKey},
};

use super::{
    PuppetStore,
    table::{CryptoRowError, Kind, Outcome},
};

impl PuppetStore {
    /// What never changes about the account; `None` before it is loaded or made.
    #[must_use]
    pub fn get_static_account(&self) -> Option<StaticAccountData> {
        self.account.read().clone()
    }

    pub(super) fn static_account(&self) -> Outcome<StaticAccountData> {
        self.get_static_account().ok_or(CryptoRowError::NoAccount)
    }

    pub(super) async fn account(&self) -> Outcome<Option<Account>> {
        let Some(pickle) = self.table.get::<PickledAccount>(Kind::Account, b"").await? else {
            return Ok(None);
        };
        let account = Account::from_pickle(pickle).map_err(|_| CryptoRowError::Unreadable("account"))?;
        *self.account.write() = Some(account.static_data().clone());
        Ok(Some(account))
    }

    pub(super) fn put_account(&self, account: &Account) -> Outcome<()> {
        self.table.put(Kind::Account, vec![], &account.pickle())?;
        *self.account.write() = Some(account.static_data().clone());
        Ok(())
    }

    pub(super) async fn identity(&self) -> Outcome<Option<PrivateCrossSigningIdentity>> {
        let Some(pickle) = self.table.get(Kind::Identity, b"").await? else { return Ok(None) };
        PrivateCrossSigningIdentity::from_pickle(pickle)
            .map(Some)
            .map_err(|_| CryptoRowError::Unreadable("cross-signing identity"))
    }

    pub(super) async fn backup_keys(&self) -> Outcome<BackupKeys> {
        Ok(BackupKeys {
            decryption_key: self.table.get(Kind::BackupKey, b"").await?,
            backup_version: self.table.get(Kind::BackupVersion, b"").await?,
        })
    }

    pub(super) async fn dehydrated_key(&self) -> Outcome<Option<DehydratedDeviceKey>> {
        self.table.get(Kind::DehydratedKey, b"").await
    }
}
