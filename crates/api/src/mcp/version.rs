//! The protocol version that a request names in its header.
//!
//! A version is a date. One that we do not know is no reason to refuse: the client speaks something newer, and the
//! protocol has a way to agree on less. What is no date is refused.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::ProtocolVersion;

use super::jsonrpc::{Call, Refused};

pub(super) const HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The first with Streamable HTTP is 2025-03-26; then up to the newest that rmcp knows.
pub(super) fn supported() -> Cow<'static, [ProtocolVersion]> {
    let known = ProtocolVersion::KNOWN_VERSIONS;
    let first = known.iter().position(|v| *v == ProtocolVersion::V_2025_03_26).unwrap_or_default();
    Cow::Borrowed(&known[first..])
}

/// `YYYY-MM-DD`
pub(super) fn is_version(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, b)| if matches!(at, 4 | 7) { b == b'-' } else { b.is_ascii_digit() })
}

/// Leaves a header that rmcp takes.
///
/// # Errors
/// It is no version.
pub(super) fn settle(headers: &mut HeaderMap, call: &Call) -> Result<(), Refused> {
    let Some(value) = headers.get(HEADER) else { return Ok(()) };
    let named = value.to_str().ok().map(str::trim).filter(|v| is_version(v)).map(str::to_owned);
    let Some(named) = named else {
        let message = "The header MCP-Protocol-Version has to be a version, such as 2025-11-25.";
        return Err(Refused::invalid(message).about(call));
    };
    if call.method == "initialize" {
        // the body names it, and that is what is negotiated
        headers.remove(HEADER);
    } else if !call.names_version() && !supported().iter().any(|v| v.as_str() == named) {
        let newest = HeaderValue::from_static("2025-11-25");
        headers.insert(HEADER, newest);
    } else if let Ok(value) = HeaderValue::from_str(&named) {
        headers.insert(HEADER, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_from_the_first_with_this_transport() {
        let all: Vec<String> = supported().iter().map(ToString::to_string).collect();
        assert_eq!(all, ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
        // what an unknown one is taken down to
        assert_eq!(ProtocolVersion::LATEST_WITH_INITIALIZE.as_str(), "2025-11-25");
    }

    #[test]
    fn a_version_is_a_date() {
        for good in ["2025-03-26", "2027-01-01", "1999-99-99"] {
            assert!(is_version(good), "{good}");
        }
        for bad in ["", "banana", "2025-3-26", "2025-03-26x", "2025/03/26", "2025-03-2６", "DRAFT-2026"] {
            assert!(!is_version(bad), "{bad}");
        }
    }
}
