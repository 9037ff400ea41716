//! `POST /v1/network-agents/me/rooms`: one more room.

use axum::extract::State;
use http::StatusCode;
use parlour_app::{request, view};
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    extract::{From as FromSource, Posted, Shared, Signed},
    openapi::{Operation, samples},
    wire::{Answer, Answered, Entered},
};

/// Neither field: the default lobby. Both: refused.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Enter {
    room: Option<String>,
    code: Option<String>,
}

impl Posted for Enter {}

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("enterRoom", "Enter one more room")
        .says(
            "`room` names a lobby (name or slug), or a private room (number or link): before a private room one waits until its \
             owner answers. `code` opens a private room at once. Neither: the default lobby. Rooms one is in are kept.",
        )
        .asked(json!({"room": "lobby"}))
        .asked(json!({"code": "7K3M-Q9TD-2XWF"}))
        .asked(json!({}))
        .answers(StatusCode::OK, "Inside.", json!({"room": samples::room()}))
        .answers(StatusCode::ACCEPTED, "Before the door: a wait tells when it opens.", json!({"knock": samples::knock()}))
        .refuses(&[
            Code::RoomNotFound,
            Code::CodeInvalid,
            Code::RateLimited,
            Code::CapacityReached,
            Code::Forbidden,
        ])
}

/// 200 once inside, 202 before a door.
pub(crate) async fn post(
    State(api): State<Shared>,
    FromSource(source): FromSource,
    Signed { caller, body }: Signed<Enter>,
) -> Answered<Entered> {
    let entered = api.app.enter(&caller, request::Enter { room: body.room, code: body.code }, source).await?;
    let body = Entered::from(&entered);
    Ok(match entered {
        view::Entered::Room(_) => Answer::ok(body),
        view::Entered::Knock(_) => Answer::accepted(body),
    })
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, post},
    };

    #[tokio::test]
    async fn inside_and_before_the_door() {
        let inside = ask(App::open(), post("/me/rooms", "{}")).await;
        let outside = ask(App::open().behind_a_door(), post("/me/rooms", r#"{"room":"0199"}"#)).await;
        insta::assert_snapshot!(format!("{inside}\n{outside}"));
    }
}
