//! Plain client-server API calls as users of the floor's appservice: the raw homeserver that the bridge is held against.
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{clock::fresh_id, floor::Floor, marker, registration::Registration};

/// How long a probe event may take to come through. Long, as a homeserver may first have to clear a backlog.
const PROBE: Duration = Duration::from_secs(120);

/// A homeserver, seen as the floor's appservice.
#[derive(Clone)]
pub(crate) struct Homeserver {
    http: reqwest::Client,
    base: String,
    token: String,
    prefix: String,
    appservice: String,
    server_name: String,
}

/// Percent-encodes one part of a path or a query.
pub(crate) fn encode(part: &str) -> String {
    utf8_percent_encode(part, NON_ALPHANUMERIC).to_string()
}

/// One client for all calls: as many connections as there are calls under way, and no Nagle delay in the figures.
pub(crate) fn http_client() -> Result<reqwest::Client> {
    let builder = reqwest::Client::builder().pool_max_idle_per_host(usize::MAX).tcp_nodelay(true).no_proxy();
    builder.timeout(Duration::from_secs(180)).build().context("cannot make an HTTP client")
}

impl Homeserver {
    /// Asks the homeserver who we are, which also tells its server name and that our registration is loaded.
    pub(crate) async fn connect(base: &str, registration: &Registration) -> Result<Self> {
        let mut hs = Self {
            http: http_client()?,
            base: base.trim_end_matches('/').to_owned(),
            token: registration.as_token.clone(),
            prefix: registration.prefix()?,
            appservice: registration.id.clone(),
            server_name: String::new(),
        };
        let me = hs.call(Method::GET, "/account/whoami", "", None).await;
        let me =
            me.context("the homeserver does not know the floor's appservice: is its registration loaded?")?;
        let (_, server_name) =
            me["user_id"].as_str().and_then(|id| id.split_once(':')).context("whoami gave no user id")?;
        server_name.clone_into(&mut hs.server_name);
        Ok(hs)
    }

    /// For calls that only devices make.
    pub(crate) fn client(&self) -> Result<parlour_matrix::Client> {
        Ok(parlour_matrix::Client::new(&self.base, self.token.clone().into())?)
    }

    /// The Matrix id of a floor user.
    pub(crate) fn user(&self, name: &str) -> String {
        format!("@{}{name}:{}", self.prefix, self.server_name)
    }

    /// A call as `user` (empty: the appservice's own sender). `path` is what follows `/_matrix/client/v3`.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        user: &str,
        body: Option<&Value>,
    ) -> Result<Value> {
        let mut request = self.http.request(method, format!("{}/_matrix/client/v3{path}", self.base));
        if !user.is_empty() {
            request = request.query(&[("user_id", user)]);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.bearer_auth(&self.token).send().await?;
        let status = answer.status();
        let body: Value = serde_json::from_slice(&answer.bytes().await?).unwrap_or_default();
        if !status.is_success() {
            bail!("the homeserver answered {path} with {status}: {body}");
        }
        Ok(body)
    }

    /// The appservice ping: a homeserver that had given up on us for a while tries again at once.
    pub(crate) async fn ping(&self) -> Result<()> {
        let url = format!("{}/_matrix/client/v1/appservice/{}/ping", self.base, encode(&self.appservice));
        let answer = self.http.post(url).bearer_auth(&self.token).json(&json!({})).send().await?;
        if !answer.status().is_success() {
            bail!("the homeserver could not reach the floor's appservice: {}", answer.status());
        }
        Ok(())
    }

    /// Has the homeserver deliver to the floor again, and waits until a probe has come through with all that piled up.
    pub(crate) async fn ready(&self, floor: &Floor) -> Result<()> {
        self.ping().await?;
        let me = self.register("probe").await?;
        let room = self.create_room(&me, "probe").await?;
        let marker = marker::fresh();
        self.send(&me, &room, &marker).await?;
        let seen = floor.wait_for(&marker, PROBE).await;
        seen.with_context(|| {
            format!("no transaction reached the floor's appservice within {PROBE:?}: is its url right?")
        })?;
        Ok(())
    }

    /// Makes a floor user, or takes the one that is there. Gives its Matrix id.
    pub(crate) async fn register(&self, name: &str) -> Result<String> {
        let username = format!("{}{name}", self.prefix);
        let body =
            json!({"type": "m.login.application_service", "username": username, "inhibit_login": true});
        match self.call(Method::POST, "/register", "", Some(&body)).await {
            Err(error) if !error.to_string().contains("M_USER_IN_USE") => Err(error),
            _ => Ok(self.user(name)),
        }
    }

    pub(crate) async fn join(&self, room: &str, user: &str) -> Result<()> {
        self.call(Method::POST, &format!("/join/{}", encode(room)), user, Some(&json!({}))).await?;
        Ok(())
    }

    /// A public room without encryption; gives its room id.
    pub(crate) async fn create_room(&self, user: &str, name: &str) -> Result<String> {
        let body = json!({"preset": "public_chat", "name": name});
        let answer = self.call(Method::POST, "/createRoom", user, Some(&body)).await?;
        Ok(answer["room_id"].as_str().context("createRoom gave no room_id")?.to_owned())
    }

    /// Sends one text. `m.mentions` is there as the bridge has it: it changes what push rules cost the homeserver.
    pub(crate) async fn send(&self, user: &str, room: &str, text: &str) -> Result<()> {
        let body = json!({"msgtype": "m.text", "body": text, "m.mentions": {}});
        self.put_event((user, None), room, "m.room.message", &body).await
    }

    /// Sends what was encrypted before, as a user, or as a device of theirs.
    pub(crate) async fn put_sealed(
        &self,
        from: (&str, Option<&str>),
        room: &str,
        content: &Value,
    ) -> Result<()> {
        self.put_event(from, room, "m.room.encrypted", content).await
    }

    async fn put_event(
        &self,
        (user, device): (&str, Option<&str>),
        room: &str,
        kind: &str,
        content: &Value,
    ) -> Result<()> {
        let mut path = format!("/rooms/{}/send/{kind}/{}", encode(room), fresh_id());
        if let Some(device) = device {
            path = format!("{path}?device_id={}", encode(device));
        }
        self.call(Method::PUT, &path, user, Some(content)).await?;
        Ok(())
    }
}
