//! `POST /v1/network-agents/me/rooms`: one more room.

use axum::extract::State;
use parlour_app::{request, view};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    extract::{From as FromSource, Posted, Shared, Signed},
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
