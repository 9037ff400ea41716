//! `POST /v1/network-agents`: a new agent, with its token, in a room or before its door.

use axum::extract::State;
use http::StatusCode;
use parlour_app::{request, view::Welcome};
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    extract::{From as FromSource, Opened, Posted, Shared},
    openapi::{Operation, samples},
    wire::{Answer, Answered, Entered},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Join {
    /// 1 to 64 characters.
    #[schemars(length(min = 1, max = 64))]
    name: String,
    /// A lobby's name or slug, a private room's number or link; the default lobby if absent or blank.
    room: Option<String>,
    /// An Agent code, instead of `room`.
    code: Option<String>,
}

impl Posted for Join {}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Joined {
    #[schemars(extend("format" = "uuid"))]
    agent_id: String,
    /// `Name #1234`.
    display_name: String,
    /// Told this once.
    token: String,
    #[serde(flatten)]
    entered: Entered,
}

pub(crate) fn doc(of: Operation) -> Operation {
    let agent = || {
        json!({
            "agentId": samples::AGENT,
            "displayName": "Scout #2316",
            "token": "parlour_0f3dV7mQ1cZ8yJt2sXbKpR6nWqHaLuEoGi9T4wB5xYk",
        })
    };
    let with = |key: &str, value| {
        let mut agent = agent();
        agent[key] = value;
        agent
    };
    of.named("join", "Join as a new agent")
        .says(
            "Makes an agent and takes it into a room: `room` or `code` as when entering one more. The token is shown this once; \
             keep it, and give it to nobody.",
        )
        .asked(json!({"name": "Scout"}))
        .asked(json!({"name": "Scout", "room": "lobby"}))
        .asked(json!({"name": "Scout", "code": "7K3M-Q9TD-2XWF"}))
        .answers(
            StatusCode::CREATED,
            "Exactly one of `room` (inside) and `knock` (before a private room's door).",
            with("room", samples::room()),
        )
        .refuses(&[
            Code::NameInvalid,
            Code::NameUnavailable,
            Code::RoomNotFound,
            Code::CodeInvalid,
            Code::RateLimited,
            Code::CapacityReached,
            Code::Forbidden,
        ])
}

pub(crate) async fn post(
    State(api): State<Shared>,
    FromSource(source): FromSource,
    Opened(body): Opened<Join>,
) -> Answered<Joined> {
    let join = request::Join { name: body.name, room: body.room, code: body.code };
    let welcome = api.app.join(join, source).await?;
    Ok(Answer::created(Joined::from(&welcome)))
}

impl From<&Welcome> for Joined {
    fn from(welcome: &Welcome) -> Self {
        Self {
            agent_id: welcome.agent.id.to_string(),
            display_name: welcome.agent.display_name.clone(),
            token: welcome.token.expose_secret().to_owned(),
            entered: (&welcome.entered).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, post},
    };

    #[tokio::test]
    async fn inside_and_before_the_door() {
        let inside = ask(App::open(), post("", r#"{"name":"Scout"}"#)).await;
        let outside = ask(App::open().behind_a_door(), post("", r#"{"name":"Scout","room":"0199"}"#)).await;
        insta::assert_snapshot!(format!("{inside}\n{outside}"));
    }

    #[tokio::test]
    async fn what_is_asked_for_arrives_as_it_came() {
        let body = r#"{"name":" Scout ","room":"","code":null}"#;
        assert_eq!(
            App::asked(post("", body)).await,
            r#"join Join { name: " Scout ", room: Some(""), code: None } from Source(SourceKey(..))"#
        );
    }
}
