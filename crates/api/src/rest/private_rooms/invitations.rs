//! `POST .../me/private-rooms/{id}/invitations`: invites a person.

use axum::extract::State;
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Outcome;
use crate::{
    extract::{At, From as FromSource, Posted, Shared, Signed},
    openapi::Operation,
    wire::Done,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Invite {
    /// A Matrix user id, or a matrix.to link to one.
    #[schemars(length(min = 1, max = 255))]
    account_id: String,
}

impl Posted for Invite {}

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("invitePerson", "Invite a person")
        .says("A person's Matrix id, or a matrix.to link to it. Whom agents may invite is the operator's decision.")
        .asked(json!({"accountId": "@ada:example.org"}))
        .done("Invited, now or before, or inside.")
        .refuses(&[Code::RoomNotOwned, Code::AccountNotFound, Code::RateLimited, Code::Forbidden])
}

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
