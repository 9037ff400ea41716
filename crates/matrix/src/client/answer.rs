//! From a homeserver's answer to a value or an [`HsError`].

use bytes::Bytes;
use http::{
    HeaderMap, StatusCode,
    header::{DATE, RETRY_AFTER},
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::HsError;
use crate::json::Fields;

const MESSAGE_CHARS: usize = 300;

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The two fields of a Matrix error (spec, client-server API, "Standard error response").
#[derive(Default)]
struct MatrixError {
    errcode: String,
    message: String,
    retry_after_ms: Option<u64>,
}

impl Answer {
    /// The body of a success.
    pub(super) fn success(self) -> Result<Bytes, HsError> {
        if self.status.is_success() { Ok(self.body) } else { Err(self.failure()) }
    }

    fn failure(&self) -> HsError {
        let error = MatrixError::read(&self.body);
        let status = self.status.as_u16();
        if status == 429 || error.errcode == "M_LIMIT_EXCEEDED" {
            let retry_after_ms = error.retry_after_ms.max(retry_after_ms(&self.headers));
            return HsError::Limited { retry_after_ms };
        }
        match status {
            300..400 => HsError::Refused {
                status,
                errcode: String::new(),
                message: "it redirects; set homeserver.url to the address it redirects to".to_owned(),
            },
            // A proxy that gave up waiting says nothing about what it had already passed on.
            408 if error.errcode.is_empty() => HsError::Unknown("status 408 from a proxy".to_owned()),
            400..500 => error.refusal(status),
            _ => HsError::Unknown(
                format!("status {status} {} {}", error.errcode, error.message).trim().to_owned(),
            ),
        }
    }
}

/// A success of the type that was expected. Anything else is an unknown outcome: something answered 200, but what?
pub(super) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, HsError> {
    // serde's message may quote the body, so only the place is kept.
    serde_json::from_slice(body).map_err(|e| {
        let (line, column) = (e.line(), e.column());
        HsError::Unknown(format!("a success, but its body is not as expected (line {line}, column {column})"))
    })
}

impl MatrixError {
    fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let raw: Option<&RawValue> = serde_json::from_str(&text).ok();
        let Some(fields) = raw.and_then(Fields::of) else { return Self::default() };
        Self {
            errcode: fields.text("errcode").map(|c| c.chars().take(255).collect()).unwrap_or_default(),
            message: fields
                .text("error")
                .map(|m| m.chars().take(MESSAGE_CHARS).collect())
                .unwrap_or_default(),
            retry_after_ms: fields.int("retry_after_ms").and_then(|ms| u64::try_from(ms).ok()),
        }
    }

    fn refusal(self, status: u16) -> HsError {
        let message = match self.errcode.is_empty() {
            true => "no Matrix error; is homeserver.url the homeserver's client address?".to_owned(),
            false => self.message,
        };
        HsError::Refused { status, errcode: self.errcode, message }
    }
}

/// `Retry-After` in milliseconds: seconds, or a date, measured against the answer's own `Date` so that neither clock
/// has to be right (RFC 9110, section 10.2.3).
fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(seconds.saturating_mul(1000));
    }
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let wait = date(text)?.duration_since(date(headers.get(DATE)?.to_str().ok()?)?);
    wait.map_or(Some(0), |w| u64::try_from(w.as_millis()).ok())
}

#[cfg(test)]
mod tests {
    use http::header::{HeaderName, HeaderValue};
    use rstest::rstest;

    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
        let pair = |(name, value): &(&str, &str)| {
            (HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap())
        };
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: headers.iter().map(pair).collect(),
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    const DATED: (&str, &str) = ("date", "Mon, 30 Nov 2026 16:00:00 GMT");

    #[rstest]
    #[case::body(&[], r#"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":1500}"#, Some(1500))]
    #[case::seconds(&[("retry-after", "3")], r#"{"errcode":"M_LIMIT_EXCEEDED"}"#, Some(3000))]
    #[case::both_larger_counts(&[("retry-after", "2")], r#"{"retry_after_ms":1500}"#, Some(2000))]
    #[case::date(&[DATED, ("retry-after", "Mon, 30 Nov 2026 16:00:05 GMT")], "", Some(5000))]
    #[case::date_gone_by(&[DATED, ("retry-after", "Mon, 30 Nov 2026 15:00:00 GMT")], "", Some(0))]
    #[case::date_without_a_clock(&[("retry-after", "Mon, 30 Nov 2026 16:00:05 GMT")], "", None)]
    #[case::html(&[], "<html>slow down</html>", None)]
    #[case::odd(&[("retry-after", "soon")], r#"{"retry_after_ms":-7}"#, None)]
    #[case::huge(&[("retry-after", "18446744073709551615")], "", Some(u64::MAX))]
    fn a_429_in_each_form(#[case] headers: &[(&str, &str)], #[case] body: &str, #[case] wait: Option<u64>) {
        let got = answer(429, headers, body).success().unwrap_err();
        assert_eq!(got, HsError::Limited { retry_after_ms: wait });
    }

    #[test]
    fn the_errcode_alone_is_a_limit_too() {
        let got = answer(400, &[], r#"{"errcode":"M_LIMIT_EXCEEDED","error":"x"}"#).success();
        assert_eq!(got, Err(HsError::Limited { retry_after_ms: None }));
    }

    #[rstest]
    #[case(500, r#"{"errcode":"M_UNKNOWN","error":"boom"}"#)]
    #[case(502, "<html>bad gateway</html>")]
    #[case(503, "")]
    #[case(504, "")]
    #[case(408, "")]
    fn what_may_have_happened(#[case] status: u16, #[case] body: &str) {
        assert!(matches!(answer(status, &[], body).success(), Err(HsError::Unknown(_))));
    }

    #[rstest]
    #[case(403, r#"{"errcode":"M_FORBIDDEN","error":"no"}"#, "M_FORBIDDEN", "no")]
    #[case(
        400,
        r#"{"errcode":7}"#,
        "",
        "no Matrix error; is homeserver.url the homeserver's client address?"
    )]
    #[case(404, "<html>", "", "no Matrix error; is homeserver.url the homeserver's client address?")]
    #[case(302, "", "", "it redirects; set homeserver.url to the address it redirects to")]
    fn refusals(#[case] status: u16, #[case] body: &str, #[case] errcode: &str, #[case] message: &str) {
        let (errcode, message) = (errcode.to_owned(), message.to_owned());
        assert_eq!(answer(status, &[], body).success(), Err(HsError::Refused { status, errcode, message }));
    }

    #[test]
    fn helpers_ask_the_homeserver_not_a_proxy() {
        let refused = |status, body| answer(status, &[], body).success().unwrap_err();
        assert!(refused(404, r#"{"errcode":"M_NOT_FOUND"}"#).is_not_found());
        assert!(!refused(404, "<html>").is_not_found());
        assert!(refused(403, r#"{"errcode":"M_FORBIDDEN"}"#).is_forbidden());
        assert!(!refused(403, "<html>").is_forbidden());
        assert!(refused(413, "<html>").is_too_large());
        assert!(refused(400, r#"{"errcode":"M_TOO_LARGE"}"#).is_too_large());
        assert!(refused(404, r#"{"errcode":"M_UNRECOGNIZED"}"#).is_unrecognized());
        assert!(!refused(404, "<html>").is_unrecognized());
        assert!(refused(403, r#"{"errcode":"M_FORBIDDEN"}"#).is_final());
        assert!(refused(413, "<html>").is_final());
        assert!(!refused(404, "<html>").is_final());
        assert!(!refused(302, "").is_final());
        assert!(!refused(401, r#"{"errcode":"M_UNKNOWN_TOKEN"}"#).is_final());
    }

    #[test]
    fn long_messages_are_cut_and_bodies_are_not_quoted() {
        let body = format!(r#"{{"errcode":"M_X","error":"{}"}}"#, "ä".repeat(900));
        let Err(HsError::Refused { message, .. }) = answer(400, &[], &body).success() else { panic!() };
        assert_eq!(message.chars().count(), 300);
        let Err(HsError::Unknown(cause)) = json::<u64>(br#""secret words""#) else { panic!() };
        assert!(!cause.contains("secret"), "{cause}");
    }
}
