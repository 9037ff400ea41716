//! Puppets as accounts.

use http::Method;
use ruma::{OwnedUserId, UserId};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    Client, HsError,
    request::{Request, V3},
};
use crate::json::Fields;

/// How a registration ended; either way the account is ours to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    Fresh,
    /// It was there before.
    Existing,
}

/// What a person or puppet shows of themselves. Empty where nothing is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub display_name: Option<String>,
    /// `mxc://`
    pub avatar_url: Option<String>,
}

#[derive(Deserialize)]
struct Whoami {
    user_id: OwnedUserId,
}

impl Client {
    /// Whom the homeserver takes us for when we act as `user`: proof that the token and the namespace fit.
    ///
    /// # Errors
    /// See [`HsError`]; `M_UNKNOWN_TOKEN` where the homeserver does not know our registration.
    pub async fn whoami(&self, user: &UserId) -> Result<OwnedUserId, HsError> {
        let who: Whoami =
            self.request("whoami", Method::GET, V3, &["account", "whoami"]).by(user).call().await?;
        Ok(who.user_id)
    }

    /// Makes the account `@localpart:server` unless it exists, without a device or a token of its own.
    ///
    /// # Errors
    /// See [`HsError`]; `M_EXCLUSIVE` where the name is not in our namespace.
    pub async fn register(&self, localpart: &str) -> Result<Registered, HsError> {
        let body = json!({
            "type": "m.login.application_service",
            "username": localpart,
            "inhibit_login": true,
        });
        match self.request("register", Method::POST, V3, &["register"]).json(&body).done().await {
            Ok(()) => Ok(Registered::Fresh),
            Err(error) if error.has_code("M_USER_IN_USE") => Ok(Registered::Existing),
            Err(error) => Err(error),
        }
    }

    /// Something that a user of ours keeps on the homeserver; `None` where there is nothing of this type.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn account_data(&self, user: &UserId, kind: &str) -> Result<Option<Value>, HsError> {
        match self.account_data_request("account_data", Method::GET, user, kind).call().await {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps something on the homeserver that only this user of ours sees.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn set_account_data(&self, user: &UserId, kind: &str, content: &Value) -> Result<(), HsError> {
        self.account_data_request("set_account_data", Method::PUT, user, kind).json(content).done().await
    }

    fn account_data_request(
        &self,
        name: &'static str,
        method: Method,
        user: &UserId,
        kind: &str,
    ) -> Request<'_> {
        self.request(name, method, V3, &["user", user.as_str(), "account_data", kind]).by(user)
    }

    /// # Errors
    /// See [`HsError`].
    pub async fn set_display_name(&self, user: &UserId, name: &str) -> Result<(), HsError> {
        let path = ["profile", user.as_str(), "displayname"];
        let request = self.request("set_display_name", Method::PUT, V3, &path).by(user);
        request.json(&json!({"displayname": name})).done().await
    }

    /// Sets somebody's picture, in all their rooms too.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn set_avatar(&self, user: &UserId, url: &str) -> Result<(), HsError> {
        self.put_profile("set_avatar", user, "avatar_url", &url.into()).await
    }

    /// Sets a field of somebody's profile (MSC4133, Matrix 1.16).
    ///
    /// # Errors
    /// See [`HsError`]; refused by homeservers without it.
    pub async fn set_profile_field(&self, user: &UserId, key: &str, value: &Value) -> Result<(), HsError> {
        self.put_profile("set_profile_field", user, key, value).await
    }

    async fn put_profile(
        &self,
        name: &'static str,
        user: &UserId,
        key: &str,
        value: &Value,
    ) -> Result<(), HsError> {
        let request = self.request(name, Method::PUT, V3, &["profile", user.as_str(), key]).by(user);
        request.json(&json!({key: value})).done().await
    }

    /// The profile of anybody; empty for somebody whom the homeserver does not know.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn profile(&self, user: &UserId) -> Result<Profile, HsError> {
        Ok(self.find_profile(user).await?.unwrap_or_default())
    }

    /// The profile of a user of ours, also on a homeserver that shows profiles only to who shares a room.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn own_profile(&self, user: &UserId) -> Result<Profile, HsError> {
        Ok(read_profile(self.profile_request(user).by(user)).await?.unwrap_or_default())
    }

    /// The profile of anybody; `None`: the homeserver knows nobody of that name.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn find_profile(&self, user: &UserId) -> Result<Option<Profile>, HsError> {
        read_profile(self.profile_request(user)).await
    }

    fn profile_request(&self, user: &UserId) -> Request<'_> {
        self.request("profile", Method::GET, V3, &["profile", user.as_str()])
    }
}

async fn read_profile(request: Request<'_>) -> Result<Option<Profile>, HsError> {
    match request.call::<Box<RawValue>>().await {
        Ok(raw) => Ok(Some(Profile::read(&raw))),
        Err(error) if is_nobody(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Synapse (1.163) says `M_UNKNOWN` here, against the specification.
fn is_nobody(error: &HsError) -> bool {
    matches!(error, HsError::Refused { status: 404, errcode, .. } if !errcode.is_empty())
}

impl Profile {
    fn read(raw: &RawValue) -> Self {
        let fields = Fields::of(raw).unwrap_or_default();
        Self { display_name: fields.text("displayname"), avatar_url: fields.text("avatar_url") }
    }
}
