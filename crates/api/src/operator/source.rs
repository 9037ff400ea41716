//! `GET /v1/operator/source?source=`: what an address has taken today of each of its quotas. It is turned into the key of the
//! day at once: it gets into no log, no answer and no database.

use axum::extract::State;
use parlour_domain::{fault::Fault, source::Source};
use serde::Serialize;

use super::shown::QuotaOf;
use crate::{
    extract::{FromQuery, Pairs, Query, Shared},
    openapi::{Kind, Parameter},
    wire::{Answer, Answered},
};

#[derive(Debug)]
pub(super) struct Asked(Source);

impl FromQuery for Asked {
    const PARAMETERS: &'static [Parameter] = &[Parameter {
        name: "source",
        kind: Kind::Text,
        what: "An address, as the proxy's log has it",
        example: "192.0.2.7",
    }];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        let found = pairs.id("source")?.and_then(|text| Source::parse(&text));
        found.map(Self).ok_or_else(no_address)
    }
}

fn no_address() -> Fault {
    Fault::invalid("source", "source is no IP address: give one such as 192.0.2.7 or 2001:db8::7")
}

#[derive(Debug, Serialize)]
pub(super) struct OfSource {
    quotas: Vec<QuotaOf>,
}

pub(super) async fn show(
    Query(Asked(source)): Query<Asked>,
    State(api): State<Shared>,
) -> Answered<OfSource> {
    let taken = api.app.source_quotas(source).await?;
    Ok(Answer::ok(OfSource { quotas: taken.into_iter().map(QuotaOf::from).collect() }))
}
