//! `GET /v1/network-agents/me/messages/lookup`: messages by their ids, in full.

use axum::extract::State;
use http::StatusCode;
use parlour_app::view;
use parlour_domain::{fault::Fault, limits::MAX_LOOKUP_IDS};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    extract::{By, FromQuery, Pairs, Query, Shared},
    openapi::{Kind, Operation, Parameter, samples},
    wire::{Answer, Answered, Length, Message},
};

/// Event ids or message ids, as they came; how many there may be is a rule.
#[derive(Debug)]
pub(crate) struct Lookup(Vec<String>);

impl FromQuery for Lookup {
    const PARAMETERS: &'static [Parameter] = &[Parameter {
        name: "ids",
        kind: Kind::Texts(1, MAX_LOOKUP_IDS),
        what: "1 to 20 eventIds or messageIds, commas between.",
        example: samples::EVENT,
    }];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        Ok(Self(pairs.ids("ids", MAX_LOOKUP_IDS)?))
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

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("lookupMessages", "Look messages up by id")
        .says("Messages in full length, from whichever room of the caller's, in the order asked, each once.")
        .answers(
            StatusCode::OK,
            "`missing` are the ids of what is not kept, or not for the caller to see.",
            json!({"messages": [samples::question()], "missing": ["$bm8gc3VjaCBldmVudA"]}),
        )
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
