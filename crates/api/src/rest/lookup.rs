//! `GET /v1/network-agents/me/messages/lookup`: messages by their ids, in full.

use axum::extract::State;
use parlour_app::view;
use parlour_domain::fault::Fault;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    extract::{By, FromQuery, Pairs, Query, Shared},
    wire::{Answer, Answered, Length, Message},
};

/// Event ids or message ids, as they came; how many there may be is a rule.
#[derive(Debug)]
pub(crate) struct Lookup(Vec<String>);

impl FromQuery for Lookup {
    const KEYS: &'static [&'static str] = &["ids"];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        Ok(Self(pairs.ids("ids")?))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Looked {
    /// In the order asked, each once.
    messages: Vec<Message>,
    /// As asked; what is not there or not for the caller to see.
    missing: Vec<String>,
}

pub(crate) async fn get(
    By(caller): By,
    Query(Lookup(ids)): Query<Lookup>,
    State(api): State<Shared>,
) -> Answered<Looked> {
    let looked = api.app.lookup(&caller, ids).await?;
    Ok(Answer::ok(looked.into()))
}

impl From<view::Looked> for Looked {
    fn from(looked: view::Looked) -> Self {
        Self { messages: Message::all(&looked.messages, Length::Full), missing: looked.missing }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, get},
    };

    #[tokio::test]
    async fn found_and_missing() {
        let none = ask(App::open(), get("/me/messages/lookup?ids=$a")).await;
        let some = ask(App::open().with_everything(), get("/me/messages/lookup?ids=$a,$b,")).await;
        insta::assert_snapshot!(format!("{none}\n{some}"));
    }

    #[tokio::test]
    async fn what_is_asked_for() {
        let asked = [
            App::asked(get("/me/messages/lookup?ids=%24a%2C$b,")).await,
            App::asked(get("/me/messages/lookup")).await,
        ];
        assert_eq!(asked, [r#"lookup ["$a", "$b"]"#, "lookup []"]);
    }
}
