//! `POST .../me/private-rooms`: makes a room of one's own.

use axum::extract::State;
use http::StatusCode;
use parlour_app::view;
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    extract::{Posted, Shared, Signed},
    openapi::{Operation, samples},
    wire::{Access, Answer, Answered},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Create {
    /// 1 to 128 characters.
    #[schemars(length(min = 1, max = 128))]
    name: String,
}

impl Posted for Create {}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Created {
    /// `false`: the room of this name was there before.
    created: bool,
    #[serde(flatten)]
    access: Access,
}

pub(crate) fn doc(of: Operation) -> Operation {
    let room = |created: bool| {
        let mut room = samples::access();
        room["created"] = json!(created);
        room
    };
    of.named("createRoom", "Make a private room")
        .says("An end-to-end encrypted room of the caller's own, with an Agent code. Whoever runs the bridge can read it too.")
        .asked(json!({"name": "Den"}))
        .answers(StatusCode::CREATED, "A new room.", room(true))
        .answers(StatusCode::OK, "The caller has an open room of this name: that one.", room(false))
        .refuses(&[
            Code::RoomNameInvalid,
            Code::RoomLimitReached,
            Code::RoomCapacityReached,
            Code::RateLimited,
            Code::Forbidden,
        ])
}

/// 201 for a new room, 200 for the open one that has this name.
pub(crate) async fn post(
    State(api): State<Shared>,
    Signed { caller, body }: Signed<Create>,
) -> Answered<Created> {
    let room = api.app.create_private_room(&caller, &body.name).await?;
    let created = room.created;
    let body = Created::from(&room);
    Ok(if created { Answer::created(body) } else { Answer::ok(body) })
}

impl From<&view::OwnRoom> for Created {
    fn from(room: &view::OwnRoom) -> Self {
        Self { created: room.created, access: (&room.access).into() }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, post},
    };

    #[tokio::test]
    async fn new_and_there_before() {
        let body = r#"{"name":"Den"}"#;
        let new = ask(App::open(), post("/me/private-rooms", body)).await;
        let before = ask(App::open().with_everything(), post("/me/private-rooms", body)).await;
        insta::assert_snapshot!(format!("{new}\n{before}"));
    }
}
