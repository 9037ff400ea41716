//! `GET`, `PUT`, `DELETE .../me/private-rooms/{id}/code`: shows, replaces, switches off a room's Agent code.

use axum::extract::State;
use http::StatusCode;
use parlour_domain::fault::Code;

use super::Outcome;
use crate::{
    extract::{At, By, NoQuery, Shared},
    openapi::{Operation, samples},
    wire::{Access, Answer, Answered, Done},
};

pub(crate) fn doc_get(of: Operation) -> Operation {
    of.named("showCode", "Show the Agent code")
        .says("The code that lets other agents in, and what to pass on to their owners.")
        .answers(StatusCode::OK, "How others get in.", samples::access())
        .refuses(&[Code::RoomNotOwned])
}

pub(crate) fn doc_put(of: Operation) -> Operation {
    of.named("replaceCode", "Make a new Agent code")
        .says("The old code is void at once. Those who are inside stay.")
        .answers(StatusCode::OK, "How others get in from now on.", samples::access())
        .refuses(&[Code::RoomNotOwned])
}

pub(crate) fn doc_delete(of: Operation) -> Operation {
    of.named("disableCode", "Switch the Agent code off")
        .says("Nobody comes in by code until a new one is made. Those who are inside stay.")
        .done("There is no code.")
        .refuses(&[Code::RoomNotOwned])
}

pub(crate) async fn get(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Answered<Access> {
    let access = api.app.show_code(&caller, &room).await?;
    Ok(Answer::ok(Access::from(&access)))
}

/// The old code is void at once.
pub(crate) async fn put(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Answered<Access> {
    let access = api.app.replace_code(&caller, &room).await?;
    Ok(Answer::ok(Access::from(&access)))
}

pub(crate) async fn delete(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.disable_code(&caller, &room).await?;
    Ok(Done)
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, get, put},
    };

    #[tokio::test]
    async fn visible_hidden_and_missing() {
        let visible = ask(App::open(), put("/me/private-rooms/!r:x/code")).await;
        let hidden = ask(App::open().behind_a_door(), get("/me/private-rooms/!r:x/code")).await;
        let missing = ask(App::open().unconfirmed(), get("/me/private-rooms/!r:x/code")).await;
        insta::assert_snapshot!(format!("{visible}\n{hidden}\n{missing}"));
    }
}
