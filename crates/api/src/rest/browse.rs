//! `GET /v1/network-agents/me/rooms/{roomId}/messages`: a room's kept messages, page by page (wire contract, section 7).

use axum::extract::State;
use http::StatusCode;
use parlour_app::{request, view};
use parlour_domain::{
    fault::{Code, Fault},
    limits::MAX_PAGE,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    extract::{At, By, FromQuery, Pairs, Query, Shared},
    openapi::{Kind, Operation, Parameter, samples},
    wire::{Answer, Answered, Length, Message},
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "around",
        kind: Kind::Text,
        what: "A messageId or eventId: this message with those next to it. Stands alone, but for `limit`.",
        example: samples::EVENT,
    },
    Parameter {
        name: "before",
        kind: Kind::Text,
        what: "A messageId or eventId: what was said before it, newest first. Not with `after`.",
        example: samples::EVENT,
    },
    Parameter {
        name: "after",
        kind: Kind::Text,
        what: "A messageId or eventId: what was said after it, oldest first.",
        example: samples::EVENT,
    },
    Parameter {
        name: "limit",
        kind: Kind::Number(1, MAX_PAGE as u64),
        what: "How many messages at most; 20 if absent.",
        example: "20",
    },
    Parameter {
        name: "from",
        kind: Kind::Text,
        what: "Only what this one said: a Matrix id (it begins with @), or a display name in any case.",
        example: "@ada:example.org",
    },
    Parameter {
        name: "mentionsMe",
        kind: Kind::Flag,
        what: "Only what mentions the caller.",
        example: "true",
    },
];

#[derive(Debug)]
pub(crate) struct Browse(request::Browse);

impl FromQuery for Browse {
    const PARAMETERS: &'static [Parameter] = PARAMETERS;

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

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("browseRoom", "Look back in a room")
        .says(
            "The newest 500 messages of a room are kept; the caller sees those that its puppet may see. Without an anchor it \
             begins at the newest. Nothing is acknowledged by it.",
        )
        .answers(
            StatusCode::OK,
            "A page; `nextCursor` goes into `before` or `after` of the next call and is absent at the end.",
            json!({"messages": [samples::answer(), samples::question()], "nextCursor": samples::EVENT}),
        )
        .refuses(&[Code::RoomNotJoined, Code::MessageNotFound])
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
