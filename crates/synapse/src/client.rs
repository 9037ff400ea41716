//! The few client-server calls that set a test up (Matrix spec v1.16, client-server API).

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use ureq::Agent;

/// An account that is logged in.
#[derive(Clone)]
pub struct User {
    /// The full Matrix id, `@localpart:server`.
    pub user_id: String,
    /// The token for the `Authorization: Bearer` header.
    pub access_token: String,
    /// The device that the token belongs to.
    pub device_id: String,
}

impl fmt::Debug for User {
    // Without the token: test output is kept.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User({} on {})", self.user_id, self.device_id)
    }
}

/// One homeserver as its clients see it.
pub(crate) struct Client {
    agent: Agent,
    url: String,
}

impl Client {
    pub(crate) fn new(url: String) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            // A proxy of the environment must not see calls to loopback.
            .proxy(None)
            .build();
        Self { agent: config.into(), url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Whether `/health` says OK within a second.
    pub(crate) fn is_healthy(&self) -> bool {
        let request = self.agent.get(format!("{}/health", self.url));
        let answer = request.config().timeout_global(Some(Duration::from_secs(1))).build().call();
        answer.is_ok_and(|answer| answer.status() == 200)
    }

    /// `POST /register` with the dummy stage.
    pub(crate) fn register(&self, localpart: &str, password: &str) -> Result<User> {
        let body = json!({"username": localpart, "password": password, "auth": {"type": "m.login.dummy"}});
        self.session("register", &body).with_context(|| format!("cannot register {localpart}"))
    }

    /// `POST /login` with a password; a new device each time.
    pub(crate) fn login(&self, localpart: &str, password: &str) -> Result<User> {
        let body = json!({"type": "m.login.password", "password": password,
            "identifier": {"type": "m.id.user", "user": localpart}});
        self.session("login", &body).with_context(|| format!("cannot log {localpart} in"))
    }

    /// Whether a new account could have this name (`GET /register/available`).
    pub(crate) fn is_available(&self, localpart: &str) -> Result<bool> {
        let url = format!("{}/_matrix/client/v3/register/available", self.url);
        let mut answer = self.agent.get(url).query("username", localpart).call()?;
        let body: Value = answer.body_mut().read_json()?;
        match (answer.status().as_u16(), body["errcode"].as_str()) {
            (200, _) => Ok(true),
            (_, Some("M_USER_IN_USE")) => Ok(false),
            (status, errcode) => bail!("{status} {}", errcode.unwrap_or("without an errcode")),
        }
    }

    fn session(&self, path: &str, body: &Value) -> Result<User> {
        let mut answer = self.agent.post(format!("{}/_matrix/client/v3/{path}", self.url)).send_json(body)?;
        let body: Value = answer.body_mut().read_json()?;
        if answer.status() != 200 {
            bail!("{} {} {}", answer.status(), body["errcode"], body["error"]);
        }
        let field = |name: &str| {
            let value = body[name].as_str().with_context(|| format!("the answer has no {name}"))?;
            anyhow::Ok(value.to_owned())
        };
        Ok(User {
            user_id: field("user_id")?,
            access_token: field("access_token")?,
            device_id: field("device_id")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_user_hides_the_token() {
        let user =
            User { user_id: "@a:b".into(), access_token: "syt_secret".into(), device_id: "DEV".into() };
        assert_eq!(format!("{user:?}"), "User(@a:b on DEV)");
    }
}
