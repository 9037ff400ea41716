use std::{cmp::Ordering, sync::Arc};

use parlour_domain::{
    fault::Fault,
    limits::Limits,
    quota::{Rule, Window},
    source::Source as Address,
};
use parlour_store::{Reader, StoreError};

use crate::{
    app::App,
    quotas::{Kind, Whose},
    request::Source,
    view::{QuotaHolder, QuotaTaken, QuotaUse, SourceTag},
};

impl App {
    /// What is taken now of all quotas, the fullest first; only of those that are used up, if asked for.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn all_quotas(&self, used_up: bool, most: usize) -> Result<Vec<QuotaTaken>, Fault> {
        let (limits, now) = (self.settings.limits.clone(), self.now());
        let mut taken = self.store.read(move |r| fullest(r, &limits, now, most)).await?;
        taken.retain(|(_, quota)| !used_up || quota.used >= quota.limit);
        let mut shown = Vec::with_capacity(taken.len());
        for (whose, quota) in taken {
            shown.extend(self.quota_holder(whose).await?.map(|holder| QuotaTaken { holder, quota }));
        }
        Ok(shown)
    }

    /// What a source has taken today, of each of its quotas.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn source_quotas(self: &Arc<Self>, address: Address) -> Result<Vec<QuotaTaken>, Fault> {
        let source = self.source(address);
        let holder = QuotaHolder::Source(tag(source));
        let of_it = |quota| QuotaTaken { holder: holder.clone(), quota };
        Ok(self.quotas_taken(source).await?.into_iter().map(of_it).collect())
    }

    /// What somebody has taken of each quota, in the order of the kinds.
    pub(super) async fn quotas_taken(&self, whose: impl Into<Whose>) -> Result<Vec<QuotaUse>, Fault> {
        let (limits, whose) = (&self.settings.limits, whose.into());
        let charges: Vec<_> = whose.kinds().map(|kind| kind.charge(limits, whose)).collect();
        let (taken, now) = (self.store.read(move |r| r.taken(&charges)).await?, self.now());
        let uses = whose.kinds().zip(taken);
        Ok(uses
            .map(|(kind, window)| {
                let rule = kind.rule(limits);
                quota_use(kind, rule, rule.current(window, now))
            })
            .collect())
    }

    async fn quota_holder(&self, whose: Whose) -> Result<Option<QuotaHolder>, Fault> {
        Ok(match whose {
            Whose::Agent(key) => self.store.read(move |r| r.agent_by_key(key)).await?.map(QuotaHolder::Agent),
            Whose::Lobby(key) => {
                self.rooms.get(key).map(|room| QuotaHolder::Lobby { room: room.room(), slug: room.slug() })
            }
            Whose::Source(source) => Some(QuotaHolder::Source(tag(source))),
        })
    }
}

fn fullest(
    r: &Reader<'_>,
    limits: &Limits,
    now_ms: i64,
    most: usize,
) -> Result<Vec<(Whose, QuotaUse)>, StoreError> {
    let mut taken = Vec::new();
    for kind in Kind::ALL {
        let rule = kind.rule(limits);
        let windows = r.most_taken(kind.name(), rule, now_ms, most)?;
        let read = |(subject, window): (String, _)| {
            Some((kind.whose(&subject)?, quota_use(*kind, rule, Some(window))))
        };
        taken.extend(windows.into_iter().filter_map(read));
    }
    taken.sort_by(|(_, one), (_, other)| fuller(one, other));
    taken.truncate(most);
    Ok(taken)
}

fn quota_use(kind: Kind, rule: Rule, window: Option<Window>) -> QuotaUse {
    QuotaUse {
        key: kind.limit(),
        used: window.map_or(0, |w| w.count),
        limit: rule.limit,
        back_at_ms: window.map(|w| rule.end_of(w.started_at_ms)),
    }
}

/// By the part that is used, which may be more than all where the limit was lowered; then what stays so for longer.
fn fuller(one: &QuotaUse, other: &QuotaUse) -> Ordering {
    // crosswise, so that nothing is divided; of none at all, each one is too many
    let part = |quota: &QuotaUse, of: &QuotaUse| u64::from(quota.used) * u64::from(of.limit.max(1));
    part(other, one).cmp(&part(one, other)).then_with(|| other.back_at_ms.cmp(&one.back_at_ms))
}

fn tag(source: Source) -> SourceTag {
    let [a, b, c, d, ..] = source.0.0;
    SourceTag([a, b, c, d])
}
