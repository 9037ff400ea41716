//! Where a request comes from.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::atomic::{AtomicBool, Ordering},
};

use axum::extract::{ConnectInfo, FromRequestParts};
use http::request::Parts;
use parlour_app::request::Source;
use parlour_domain::source::{self, Found};

use super::Shared;
use crate::ApiSettings;

/// The source that quotas count by.
#[derive(Debug)]
pub(crate) struct From(pub(crate) Source);

impl FromRequestParts<Shared> for From {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Shared) -> Result<Self, Infallible> {
        let found = find(parts, &api.settings);
        if found.ignored_header {
            warn_once();
        }
        Ok(Self(api.app.source(found.source)))
    }
}

fn find(parts: &Parts, settings: &ApiSettings) -> Found {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    // without a socket (a router called from within) all are one source
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |p| p.0.ip());
    let forwarded: Vec<&[u8]> =
        parts.headers.get_all("x-forwarded-for").iter().map(http::HeaderValue::as_bytes).collect();
    source::find(peer, |a| settings.trusted_proxies.iter().any(|net| net.contains(&a)), &forwarded)
}

/// Once: a stranger can send the header with every request.
fn warn_once() {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            "ignored an X-Forwarded-For header from an address outside [server] trusted_proxies. If a proxy of yours \
             sent it, add its address there: until then all agents behind it share one quota."
        );
    }
}
