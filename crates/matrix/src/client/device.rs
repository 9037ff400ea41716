//! Puppets' devices: making them, removing them, and acting as one.

use std::fmt;

use http::Method;
use ruma::{DeviceId, OwnedDeviceId, UserId};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Client, HsError,
    request::{Request, V3},
};

/// Whom a call is made as. Keys belong to a device, so it must be named.
#[derive(Clone, Copy)]
pub struct AsDevice<'a> {
    pub user: &'a UserId,
    pub device: &'a DeviceId,
    /// The device's own access token, where the homeserver does not let the appservice act as a device. Without it the
    /// appservice's token is used, and user and device are named (MSC3202).
    pub token: Option<&'a SecretString>,
}

impl fmt::Debug for AsDevice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.token.is_some() { "own token" } else { "named" };
        write!(f, "AsDevice({} {}, {way})", self.user, self.device)
    }
}

/// A login of its own.
pub struct Login {
    pub device_id: OwnedDeviceId,
    pub token: SecretString,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({})", self.device_id)
    }
}

#[derive(Deserialize)]
struct WhoamiDevice {
    device_id: Option<OwnedDeviceId>,
}

#[derive(Deserialize)]
struct Devices {
    devices: Vec<ListedDevice>,
}

#[derive(Deserialize)]
struct ListedDevice {
    device_id: OwnedDeviceId,
}

#[derive(Deserialize)]
struct LoginAnswer {
    device_id: OwnedDeviceId,
    access_token: String,
}

impl Client {
    /// Makes the device if it is not there (MSC4190, since Matrix 1.17), and names it.
    ///
    /// # Errors
    /// See [`HsError`]; a 404 where the homeserver makes no devices this way: then [`Self::login_appservice`].
    pub async fn put_device(&self, user: &UserId, device: &DeviceId, name: &str) -> Result<(), HsError> {
        let request = self.device_request("put_device", Method::PUT, device).by(user);
        request.json(&json!({"display_name": name})).done().await
    }

    /// Which device the homeserver takes us for; `None` where it does not say, or for none.
    ///
    /// # Errors
    /// See [`HsError`]; refused where it does not know the device.
    pub async fn whoami_device(&self, who: AsDevice<'_>) -> Result<Option<OwnedDeviceId>, HsError> {
        let path = ["account", "whoami"];
        let taken_for: WhoamiDevice =
            self.request("whoami_device", Method::GET, V3, &path).of_device(who).call().await?;
        Ok(taken_for.device_id)
    }

    /// The ids of all devices that the homeserver has of a puppet.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn devices(&self, user: &UserId) -> Result<Vec<OwnedDeviceId>, HsError> {
        let listed: Devices = self.request("devices", Method::GET, V3, &["devices"]).by(user).call().await?;
        Ok(listed.devices.into_iter().map(|device| device.device_id).collect())
    }

    /// Removes a device with its keys. One that is not there is gone already.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn delete_device(&self, user: &UserId, device: &DeviceId) -> Result<(), HsError> {
        let request = self.device_request("delete_device", Method::DELETE, device).by(user);
        match request.json(&json!({})).done().await {
            Err(error) if error.is_not_found() => Ok(()),
            result => result,
        }
    }

    /// Logs a puppet in with `m.login.application_service`: a device with an access token of its own.
    ///
    /// # Errors
    /// See [`HsError`]; refused where puppets have no logins (Synapse with MSC4190 on).
    pub async fn login_appservice(
        &self,
        user: &UserId,
        device: &DeviceId,
        name: &str,
    ) -> Result<Login, HsError> {
        let body = json!({
            "type": "m.login.application_service",
            "identifier": {"type": "m.id.user", "user": user},
            "device_id": device,
            "initial_device_display_name": name,
        });
        let request = self.request("login_appservice", Method::POST, V3, &["login"]).json(&body);
        let answer: LoginAnswer = request.call().await?;
        Ok(Login { device_id: answer.device_id, token: answer.access_token.into() })
    }

    fn device_request(&self, name: &'static str, method: Method, device: &DeviceId) -> Request<'_> {
        self.request(name, method, V3, &["devices", device.as_str()])
    }

    /// What the device's owner is shown of it: `None` where the homeserver has no such device (any more).
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn device(&self, user: &UserId, device: &DeviceId) -> Result<Option<Value>, HsError> {
        match self.device_request("device", Method::GET, device).by(user).call().await {
            Ok(body) => Ok(Some(body)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Request<'_> {
    /// Makes the call as a device, in the one way or the other.
    pub(super) fn of_device(self, who: AsDevice<'_>) -> Self {
        match who.token {
            Some(token) => self.token(token),
            None => self.by(who.user).on(Some(who.device)),
        }
    }
}
