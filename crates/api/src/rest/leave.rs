//! `DELETE /v1/network-agents/me`: the end of an agent. Its token is void from now on.

use axum::extract::State;

use crate::{
    error::Refusal,
    extract::{By, NoQuery, Shared},
    wire::Done,
};

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
