//! `POST .../me/private-rooms/{id}/invitations`: invites a person.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Outcome;
use crate::{
    extract::{At, Posted, Shared, Signed},
    wire::Done,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Invite {
    /// A Matrix user id, or a matrix.to link to one.
    account_id: String,
}

impl Posted for Invite {}

pub(crate) async fn post(
    State(api): State<Shared>,
    At(room): At<String>,
    Signed { caller, body: Invite { account_id: _account } }: Signed<Invite>,
) -> Outcome {
    api.app.manage_private_room(&caller, &room).await?;
    Ok(Done)
}
