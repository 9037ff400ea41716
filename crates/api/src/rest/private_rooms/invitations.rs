//! `POST .../me/private-rooms/{id}/invitations`: invites a person.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Outcome;
use crate::{
    extract::{At, From as FromSource, Posted, Shared, Signed},
    wire::Done,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Invite {
    /// A Matrix user id, or a matrix.to link to one.
    account_id: String,
}

impl Posted for Invite {}

/// 204, also for somebody who is invited or inside already.
pub(crate) async fn post(
    State(api): State<Shared>,
    At(room): At<String>,
    FromSource(source): FromSource,
    Signed { caller, body: Invite { account_id } }: Signed<Invite>,
) -> Outcome {
    api.app.invite_person(&caller, &room, &account_id, source).await?;
    Ok(Done)
}
