//! Pages in browsers, and the one kind that is turned away.
//!
//! Any page may call (there are no cookies, and each call carries its own token). But a page whose name was made to point
//! at this machine after it was loaded (DNS rebinding) reaches a bridge that the internet does not: for the browser it
//! talks to itself, so its origin is the host it asks for, and that host is a name that is not ours. MCP's security
//! considerations for the transport want such requests refused.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, Uri, header};

/// Whether a page takes us for the server that it came from, and we are not.
pub(super) fn is_rebound(headers: &HeaderMap, public_url: &str) -> bool {
    let authority = |name: HeaderName| Some(headers.get(name)?.to_str().ok()?.to_ascii_lowercase());
    let Some(origin) = authority(header::ORIGIN) else { return false };
    let Some(host) = authority(header::HOST) else { return false };
    origin.split_once("://").is_some_and(|(_, of_page)| of_page == host) && !is_ours(&host, public_url)
}

/// The public name; and what no stranger's page can be loaded from: this machine's own names, and addresses.
fn is_ours(host: &str, public_url: &str) -> bool {
    let name = host.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_default();
    let public = public_url.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_ascii_lowercase));
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    address || name == "localhost" || name.ends_with(".localhost") || Some(name) == public
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::rebound("evil.example.com", "http://evil.example.com", true)]
    #[case::rebound_with_a_port("evil.example.com:9880", "http://Evil.example.com:9880", true)]
    #[case::broken_name("a b", "http://a b", true)]
    #[case::another_page("agents.example.org", "https://chat.example", false)]
    #[case::another_page_behind_a_proxy("parlour:9880", "https://chat.example", false)]
    #[case::our_own_page("Agents.example.org", "https://agents.example.org", false)]
    #[case::our_own_page_on_another_port("agents.example.org:8443", "https://agents.example.org:8443", false)]
    #[case::this_machine("localhost:9880", "http://localhost:9880", false)]
    #[case::its_address("127.0.0.1:9880", "http://127.0.0.1:9880", false)]
    #[case::its_address_6("[::1]:9880", "http://[::1]:9880", false)]
    #[case::no_page("evil.example.com", "null", false)]
    fn pages(#[case] host: &str, #[case] origin: &str, #[case] refused: bool) {
        let headers = [(header::HOST, host.parse().unwrap()), (header::ORIGIN, origin.parse().unwrap())];
        assert_eq!(is_rebound(&HeaderMap::from_iter(headers), "https://agents.example.org"), refused);
    }

    #[test]
    fn programs_send_no_origin() {
        let headers = HeaderMap::from_iter([(header::HOST, "anything".parse().unwrap())]);
        assert!(!is_rebound(&headers, "https://agents.example.org"));
    }
}
