//! Where a request comes from, for the quotas of those who have no token yet (wire contract, section 6, "Source").
//!
//! The address is the socket's peer. If that is a trusted proxy, `X-Forwarded-For` is walked from the right, and the
//! first address that is no trusted proxy counts: each proxy appends whom it talked to, so everything left of that
//! was written by somebody we do not trust. Stored is only a keyed digest, whose key changes every UTC day
//! ([`crate::quota::utc_day`]).

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of the secret that turns a source into its key, drawn anew each UTC day.
pub type DayKey = [u8; 32];

/// What counts as one source: an IPv4 address, or an IPv6 network of 64 bits (what one household or machine is given).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    V4([u8; 4]),
    V6([u8; 8]),
}

/// The digest under which a source's quotas are kept for a day.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceKey(pub [u8; 16]);

/// Where a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub source: Source,
    /// The header was there but its sender is not trusted: either somebody tries it on, or `trusted_proxies` lacks the
    /// operator's proxy, and then all agents share one source. Worth one warning.
    pub ignored_header: bool,
}

impl Source {
    /// IPv4 written as IPv6 (`::ffff:a.b.c.d`, as a socket that listens on both gives it) is IPv4.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self::V4(v4.octets()),
            IpAddr::V6(v6) => {
                let [a, b, c, d, e, f, g, h, ..] = v6.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }

    /// Of an address as somebody reads it in a proxy's log.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        address_of(text.trim().as_bytes()).map(Self::of)
    }

    /// HMAC-SHA256 over the family and the address, cut to 16 bytes.
    #[must_use]
    pub fn key(self, day_key: &DayKey) -> SourceKey {
        // A key shorter than the hash's block is padded with zeros (RFC 2104); padding here spares a fallible call.
        let mut block = [0; 64];
        block[..day_key.len()].copy_from_slice(day_key);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        match self {
            Self::V4(address) => mac.update(&[&[4][..], &address].concat()),
            Self::V6(network) => mac.update(&[&[6][..], &network].concat()),
        }
        let mut key = [0; 16];
        key.copy_from_slice(&mac.finalize().into_bytes()[..16]);
        SourceKey(key)
    }
}

/// Finds the source. `forwarded`: the values of all `X-Forwarded-For` headers in the order they came, as bytes (they
/// need not be text). `is_trusted` is asked about canonical addresses only.
///
/// An entry that is no address ends the walk, and the trusted proxy that sent it on is the source: nobody gains a
/// fresh source by sending rubbish. Empty entries are skipped. If all are trusted, it is the leftmost.
#[must_use]
pub fn find(peer: IpAddr, is_trusted: impl Fn(IpAddr) -> bool, forwarded: &[&[u8]]) -> Found {
    let mut address = peer.to_canonical();
    let mut entries = forwarded.iter().flat_map(|v| v.split(|b| *b == b',')).map(<[u8]>::trim_ascii).rev();
    let has_header = forwarded.iter().any(|v| !v.trim_ascii().is_empty());
    let ignored_header = has_header && !is_trusted(address);
    while is_trusted(address) {
        match entries.find(|e| !e.is_empty()).and_then(address_of) {
            Some(next) => address = next,
            None => break,
        }
    }
    Found { source: Source::of(address), ignored_header }
}

/// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`: proxies write all of them.
fn address_of(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?;
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let address = match bare {
        Some(v6) => v6.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => text.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|s| s.ip())),
    };
    address.map(|a| a.to_canonical())
}

/// Addresses are personal: they must not reach a log by way of a derived `Debug`.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source(..)")
    }
}

impl fmt::Debug for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SourceKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Loopback, 10/8 and one IPv6 proxy.
    fn trusted(address: IpAddr) -> bool {
        match address {
            IpAddr::V4(v4) => v4.is_loopback() || v4.octets()[0] == 10,
            IpAddr::V6(v6) => v6 == Ipv6Addr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0xff]),
        }
    }

    fn found(peer: &str, headers: &[&str]) -> Found {
        let headers: Vec<&[u8]> = headers.iter().map(|h| h.as_bytes()).collect();
        find(peer.parse().unwrap(), trusted, &headers)
    }

    fn source(address: &str) -> Source {
        Source::of(address.parse().unwrap())
    }

    #[rstest]
    #[case::no_header("203.0.113.9", &[], "203.0.113.9", false)]
    #[case::stranger_lies("203.0.113.9", &["198.51.100.1"], "203.0.113.9", true)]
    #[case::empty_header("203.0.113.9", &["", " "], "203.0.113.9", false)]
    #[case::proxy("127.0.0.1", &["198.51.100.1"], "198.51.100.1", false)]
    #[case::proxy_without_header("127.0.0.1", &[], "127.0.0.1", false)]
    #[case::mapped_proxy("::ffff:127.0.0.1", &["198.51.100.1"], "198.51.100.1", false)]
    #[case::v6_proxy("2001:db8::ff", &["198.51.100.1"], "198.51.100.1", false)]
    #[case::lies_on_the_left("127.0.0.1", &["192.0.2.66, 198.51.100.1"], "198.51.100.1", false)]
    #[case::two_proxies("127.0.0.1", &["192.0.2.66, 198.51.100.1 ,10.0.0.7"], "198.51.100.1", false)]
    #[case::two_headers("127.0.0.1", &["192.0.2.66", "198.51.100.1", "10.0.0.7"], "198.51.100.1", false)]
    #[case::all_trusted("127.0.0.1", &["10.0.0.1, 10.0.0.2"], "10.0.0.1", false)]
    #[case::trusted_spelt_as_v6("127.0.0.1", &["198.51.100.1, ::ffff:10.0.0.2"], "198.51.100.1", false)]
    #[case::rubbish_last("127.0.0.1", &["198.51.100.1, unknown"], "127.0.0.1", false)]
    #[case::rubbish_behind_a_proxy("127.0.0.1", &["198.51.100.1, x, 10.0.0.7"], "10.0.0.7", false)]
    #[case::rubbish_on_the_left("127.0.0.1", &["<>, 198.51.100.1"], "198.51.100.1", false)]
    #[case::empty_entries("127.0.0.1", &["198.51.100.1,, ,"], "198.51.100.1", false)]
    #[case::port("127.0.0.1", &["198.51.100.1:4711"], "198.51.100.1", false)]
    #[case::v6("127.0.0.1", &["2001:db8:1:2:3::4"], "2001:db8:1:2::", false)]
    #[case::v6_brackets("127.0.0.1", &["[2001:db8:1:2::4]"], "2001:db8:1:2::", false)]
    #[case::v6_port("127.0.0.1", &["[2001:db8:1:2::4]:80"], "2001:db8:1:2::", false)]
    #[case::zone("127.0.0.1", &["fe80::1%eth0"], "127.0.0.1", false)]
    fn sources(#[case] peer: &str, #[case] headers: &[&str], #[case] expected: &str, #[case] ignored: bool) {
        let expected = Found { source: source(expected), ignored_header: ignored };
        assert!(found(peer, headers) == expected, "{peer} {headers:?}");
    }

    #[test]
    fn bytes_that_are_no_text_are_rubbish() {
        let found = find("127.0.0.1".parse().unwrap(), trusted, &[b"198.51.100.1, \xff\xfe"]);
        assert!(found.source == source("127.0.0.1"));
    }

    #[rstest]
    #[case("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true)]
    #[case("2001:db8:1:2::1", "2001:db8:1:3::1", false)]
    #[case("::ffff:192.0.2.1", "192.0.2.1", true)]
    #[case("192.0.2.1", "192.0.2.2", false)]
    fn a_source_is_an_address_or_a_network(#[case] one: &str, #[case] other: &str, #[case] same: bool) {
        assert_eq!(source(one) == source(other), same);
    }

    #[test]
    fn the_key_is_plain_hmac_sha256() {
        // printf '\x04\xc0\x00\x02\x01' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707..07 (32 bytes)
        let key = source("192.0.2.1").key(&[7; 32]);
        assert_eq!(hex::encode(key.0), "eae14fb15ebde8d0773e76f70bb6de83");
        assert_ne!(key, source("192.0.2.1").key(&[8; 32]));
        assert_ne!(key, source("192.0.2.2").key(&[7; 32]));
    }

    #[rstest]
    #[case(" 192.0.2.7 ", Some(Source::V4([192, 0, 2, 7])))]
    #[case("[2001:db8::7]:443", Some(Source::V6([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0])))]
    #[case("::ffff:192.0.2.7", Some(Source::V4([192, 0, 2, 7])))]
    #[case("192.0.2.7/24", None)]
    #[case("example.org", None)]
    #[case("", None)]
    fn an_address_is_read_as_logs_have_it(#[case] text: &str, #[case] expected: Option<Source>) {
        assert!(Source::parse(text) == expected);
    }

    #[test]
    fn addresses_do_not_show_in_debug_output() {
        let found = found("203.0.113.9", &[]);
        assert_eq!(format!("{found:?}"), "Found { source: Source(..), ignored_header: false }");
        assert_eq!(format!("{:?}", found.source.key(&[7; 32])), "SourceKey(..)");
    }

    proptest! {
        #[test]
        fn a_stranger_never_changes_its_source(header: Vec<u8>, more: Vec<u8>) {
            let peer: IpAddr = "203.0.113.9".parse().unwrap();
            prop_assert!(find(peer, trusted, &[&header, &more]).source == Source::of(peer));
        }

        #[test]
        fn what_a_proxy_appends_always_wins(header: Vec<u8>, client: [u8; 4]) {
            let client = IpAddr::from(client);
            prop_assume!(!trusted(client));
            let own = client.to_string();
            let appended = [&header[..], b", ", own.as_bytes()].concat();
            for values in [vec![&header[..], own.as_bytes()], vec![&appended[..]]] {
                prop_assert!(find("10.9.9.9".parse().unwrap(), trusted, &values).source == Source::of(client));
            }
        }

        #[test]
        fn every_spelling_of_an_address_is_read(bits: u128, port: u16) {
            let v6 = Ipv6Addr::from_bits(bits);
            for text in [format!("{v6}"), format!("[{v6}]"), format!("[{v6}]:{port}")] {
                prop_assert_eq!(address_of(text.as_bytes()), Some(IpAddr::V6(v6).to_canonical()));
            }
        }
    }
}
