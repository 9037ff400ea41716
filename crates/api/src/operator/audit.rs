//! `GET /v1/operator/audit?withinMs=&limit=`: what was done, newest first.

use axum::extract::State;
use parlour_app::view::{AuditEntry, Audited};
use parlour_domain::fault::Fault;
use serde::Serialize;

use super::shown::{limit, read_limit};
use crate::{
    extract::{FromQuery, Pairs, Query, Shared},
    openapi::{Kind, Parameter},
    wire::{Answer, Answered},
};

#[derive(Debug)]
pub(super) struct Asked {
    within_ms: i64,
    limit: u32,
}

impl FromQuery for Asked {
    const PARAMETERS: &'static [Parameter] = &[
        Parameter { name: "withinMs", kind: Kind::Whole, what: "How far to look back", example: "86400000" },
        limit("The newest so many"),
    ];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        let within_ms =
            pairs.number("withinMs")?.map_or(i64::MAX, |ms| i64::try_from(ms).unwrap_or(i64::MAX));
        Ok(Self { within_ms, limit: read_limit(pairs)? })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Audit {
    entries: Vec<Entry>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    number: i64,
    at_unix_ms: i64,
    deed: &'static str,
    by: Doer,
    whom: Option<One>,
    room: Option<Place>,
}

#[derive(Debug, Serialize)]
struct Doer {
    kind: String,
    #[serde(flatten)]
    one: Option<One>,
}

#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum One {
    Agent { agent_id: String, display_name: String },
    Person { matrix_user_id: String },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    catalog_id: String,
    matrix_room_id: String,
}

impl From<Audited> for One {
    fn from(one: Audited) -> Self {
        match one {
            Audited::Agent { id, display_name } => Self::Agent { agent_id: id.to_string(), display_name },
            Audited::Person(user) => Self::Person { matrix_user_id: user.to_string() },
        }
    }
}

impl From<AuditEntry> for Entry {
    fn from(entry: AuditEntry) -> Self {
        Self {
            number: entry.number,
            at_unix_ms: entry.at_ms,
            deed: entry.deed,
            by: Doer { kind: entry.by, one: entry.doer.map(One::from) },
            whom: entry.whom.map(One::from),
            room: entry.room.map(|(number, room_id)| Place {
                catalog_id: number.to_string(),
                matrix_room_id: room_id.to_string(),
            }),
        }
    }
}

pub(super) async fn list(Query(asked): Query<Asked>, State(api): State<Shared>) -> Answered<Audit> {
    let entries = api.app.audit(asked.within_ms, asked.limit).await?;
    Ok(Answer::ok(Audit { entries: entries.into_iter().map(Entry::from).collect() }))
}
