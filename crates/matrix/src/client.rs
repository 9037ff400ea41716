//! The client-server API as the bridge uses it: every call is made by a puppet or the bridge bot, with the appservice's
//! token (Matrix spec, application service API, "Identity assertion").
//!
//! Raw JSON instead of ruma's request types: those parse answers strictly, and one odd event would cost a whole page.

mod account;
mod answer;
mod device;
mod error;
mod keys;
mod manners;
mod media;
mod membership;
mod pull;
mod read;
mod request;
mod room;
mod send;
mod server;

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
    redirect::Policy,
};
use secrecy::{ExposeSecret, SecretString};

pub use account::{Profile, Registered};
pub use device::{AsDevice, Login};
pub use error::HsError;
pub use pull::Pulled;
pub use read::MessagesPage;
pub use room::CreateRoom;
pub use server::Versions;

/// For calls that a homeserver answers from its database.
const QUICK: Duration = Duration::from_secs(30);
/// For calls that may ask other servers or build a room: joins, createRoom, ping.
const SLOW: Duration = Duration::from_secs(60);
/// Beyond it nothing has reached the homeserver, which is worth knowing.
const CONNECT: Duration = Duration::from_secs(10);
/// Two hundred agents that all send at once keep their connections.
const IDLE_CONNECTIONS: usize = 256;

/// A connection pool to one homeserver. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    /// With the token as a default header in `http`, and without a slash at its end.
    base: Arc<str>,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("homeserver.url: {0}")]
    Url(&'static str),
    #[error("as_token: it holds characters that no HTTP header can carry; write the registration anew")]
    Token,
    /// The system's certificates could not be read, for instance.
    #[error("the HTTP client could not be set up: {0}")]
    Setup(String),
}

impl Client {
    /// A client for the homeserver at `base_url` (`http://` or `https://`, a path in front of `/_matrix` is kept).
    ///
    /// # Errors
    /// For an address or a token that cannot be used, and where there are no certificates for an https address.
    pub fn new(base_url: &str, as_token: SecretString) -> Result<Self, ClientError> {
        let url = checked(base_url)?;
        // Another part of the process may have chosen a provider before us; then that one serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .default_headers(headers(&as_token)?)
            .user_agent(concat!("parlour/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .tcp_nodelay(true)
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(IDLE_CONNECTIONS);
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        if url.scheme() == "http" {
            // Certificates are never looked at then, and a bare container may have none.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|e| ClientError::Setup(error::chain(&e)))?;
        Ok(Self { http, base: url.as_str().trim_end_matches('/').into() })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}

fn checked(base_url: &str) -> Result<Url, ClientError> {
    let url = Url::parse(base_url)
        .map_err(|_| ClientError::Url("give the full address, such as http://127.0.0.1:8008"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(ClientError::Url("the address has to begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ClientError::Url("leave out the user name and password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(ClientError::Url("leave out everything from `?` or `#` on"));
    }
    Ok(url)
}

fn headers(as_token: &SecretString) -> Result<HeaderMap, ClientError> {
    let bearer = format!("Bearer {}", as_token.expose_secret());
    let mut value = HeaderValue::from_str(&bearer).map_err(|_| ClientError::Token)?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod setup_tests;
#[cfg(test)]
mod tests;
