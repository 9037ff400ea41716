//! `GET /v1/operator/quotas?full=&limit=`: what is taken of all quotas, the fullest first.

use axum::extract::State;
use parlour_domain::fault::Fault;
use serde::Serialize;

use super::shown::{QuotaOf, limit, read_limit};
use crate::{
    extract::{FromQuery, Pairs, Query, Shared},
    openapi::{Kind, Parameter},
    wire::{Answer, Answered},
};

#[derive(Debug)]
pub(super) struct Asked {
    full: bool,
    limit: u32,
}

impl FromQuery for Asked {
    const PARAMETERS: &'static [Parameter] = &[
        Parameter { name: "full", kind: Kind::Flag, what: "Only those that are used up", example: "true" },
        limit("The fullest so many"),
    ];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        Ok(Self { full: pairs.flag("full")?, limit: read_limit(pairs)? })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Quotas {
    quotas: Vec<QuotaOf>,
}

pub(super) async fn list(Query(asked): Query<Asked>, State(api): State<Shared>) -> Answered<Quotas> {
    let taken = api.app.all_quotas(asked.full, asked.limit as usize).await?;
    Ok(Answer::ok(Quotas { quotas: taken.into_iter().map(QuotaOf::from).collect() }))
}
