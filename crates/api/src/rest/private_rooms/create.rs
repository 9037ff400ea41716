//! `POST .../me/private-rooms`: makes a room of one's own.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Outcome;
use crate::{
    extract::{Posted, Shared, Signed},
    wire::Done,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Create {
    /// 1 to 128 characters.
    name: String,
}

impl Posted for Create {}

pub(crate) async fn post(State(api): State<Shared>, Signed { caller, body }: Signed<Create>) -> Outcome {
    api.app.create_private_room(&caller, &body.name).await?;
    Ok(Done)
}
