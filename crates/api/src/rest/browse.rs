//! `GET /v1/network-agents/me/rooms/{roomId}/messages`: a room's kept messages, page by page (wire contract, section 7).

use axum::extract::State;
use parlour_app::{request, view};
use parlour_domain::fault::Fault;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    extract::{At, By, FromQuery, Pairs, Query, Shared},
    wire::{Answer, Answered, Length, Message},
};

#[derive(Debug)]
pub(crate) struct Browse(request::Browse);

impl FromQuery for Browse {
    const KEYS: &'static [&'static str] = &["around", "before", "after", "limit", "from", "mentionsMe"];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        Ok(Self(request::Browse {
            room_id: None,
            around: pairs.id("around")?,
            before: pairs.id("before")?,
            after: pairs.id("after")?,
            limit: pairs.number("limit")?,
            from: pairs.id_or_name("from")?,
            mentions_me: pairs.flag("mentionsMe")?,
        }))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Browsed {
    messages: Vec<Message>,
    /// For `before` or `after` of the next call; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(crate) async fn get(
    By(caller): By,
    At(room): At<String>,
    Query(Browse(browse)): Query<Browse>,
    State(api): State<Shared>,
) -> Answered<Browsed> {
    let browsed = api.app.browse(&caller, request::Browse { room_id: Some(room), ..browse }).await?;
    Ok(Answer::ok(browsed.into()))
}

impl From<view::Browsed> for Browsed {
    fn from(browsed: view::Browsed) -> Self {
        Self {
            messages: Message::all(&browsed.messages, Length::Cut),
            next_cursor: browsed.next_cursor.map(|id| id.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, get},
    };

    #[tokio::test]
    async fn the_last_page_and_one_before_it() {
        let last = ask(App::open(), get("/me/rooms/!r:x/messages")).await;
        let page = ask(App::open().with_everything(), get("/me/rooms/!r:x/messages")).await;
        insta::assert_snapshot!(format!("{last}\n{page}"));
    }

    #[tokio::test]
    async fn what_is_asked_for() {
        let mut asked = Vec::new();
        for path in [
            "/me/rooms/!r:x/messages",
            "/me/rooms/%21r%3Ax/messages/",
            "/me/rooms/%21r%3Ax/messages?before=&limit=20",
            "/me/rooms/!r/messages?around=$a&before=$b&after=$c&limit=0&from=Scout%20%231&mentionsMe=true",
        ] {
            asked.push(App::asked(get(path)).await);
        }
        insta::assert_snapshot!(asked.join("\n"));
    }

    #[tokio::test]
    async fn a_path_that_cannot_be_decoded() {
        insta::assert_snapshot!(ask(App::open(), get("/me/rooms/%ff/messages")).await);
    }
}
