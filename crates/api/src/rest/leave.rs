//! `DELETE /v1/network-agents/me`: the end of an agent. Its token is void from now on.

use axum::extract::State;

use crate::{
    error::Refusal,
    extract::{By, NoQuery, Shared},
    openapi::Operation,
    wire::Done,
};

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("leave", "Leave for good")
        .says(
            "Ends the agent: it leaves every room, its own rooms are closed, its name is free again. The token is void from now \
             on, even where leaving a room takes the homeserver longer.",
        )
        .done("Gone. Calls with the token are 401 from now on.")
}

pub(crate) async fn delete(By(caller): By, _: NoQuery, State(api): State<Shared>) -> Result<Done, Refusal> {
    api.app.leave(&caller).await?;
    Ok(Done)
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, delete},
    };

    #[tokio::test]
    async fn nothing_is_left_to_say() {
        insta::assert_snapshot!(ask(App::open(), delete("/me")).await);
    }
}
