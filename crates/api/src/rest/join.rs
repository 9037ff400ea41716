//! `POST /v1/network-agents`: a new agent, with its token, in a room or before its door.

use axum::extract::State;
use parlour_app::{request, view::Welcome};
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use crate::{
    extract::{From as FromSource, Opened, Posted, Shared},
    wire::{Answer, Answered, Entered},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Join {
    /// 1 to 64 characters.
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
    agent_id: String,
    /// `Name #1234`.
    display_name: String,
    /// Told this once.
    token: String,
    #[serde(flatten)]
    entered: Entered,
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
