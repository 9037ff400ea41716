//! The one place where a [`Fault`] becomes an answer: envelope, status, `Retry-After`, and its line in the log.

use std::sync::Arc;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use parlour_domain::fault::{Code, Fault};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::correlation::CorrelationId;

/// A fault on its way out of a handler. It has no body before it reaches [`written`], which knows the correlation id.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    fault: Arc<Fault>,
    hang_up: bool,
}

impl Refusal {
    pub(crate) fn code(&self) -> Code {
        self.fault.code
    }

    /// Ends the connection after the answer: what the client still sends would be taken for its next request.
    pub(crate) fn hanging_up(self) -> Self {
        Self { hang_up: true, ..self }
    }
}

/// The body of every error (wire contract, section 1).
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope<'a> {
    /// See each call for those it can bear.
    code: &'static str,
    /// English; says what to do next.
    message: &'a str,
    /// Whether the same call can succeed later.
    retryable: bool,
    details: &'a Map<String, Value>,
    /// By which the answer is found in the operator's log.
    #[schemars(extend("format" = "uuid"))]
    correlation_id: String,
}

impl<'a> Envelope<'a> {
    pub(crate) fn new(fault: &'a Fault, id: CorrelationId) -> Self {
        Self {
            code: fault.code.as_str(),
            message: &fault.message,
            retryable: fault.code.retryable(),
            details: &fault.details,
            correlation_id: id.text(),
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self { fault: Arc::new(fault), hang_up: false }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = status(&self.fault).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The same where the answer is not HTTP's own: written, and logged.
pub(crate) fn envelope(fault: &Fault, id: CorrelationId) -> Value {
    log(fault, id);
    serde_json::to_value(Envelope::new(fault, id)).unwrap_or_default()
}

/// Gives a refusal its body and headers and logs it; lets every other answer pass.
pub(crate) fn written(mut response: Response, id: CorrelationId) -> Response {
    let Some(Refusal { fault, hang_up }) = response.extensions_mut().remove() else { return response };
    log(&fault, id);
    let body = serde_json::to_vec(&Envelope::new(&fault, id)).unwrap_or_default();
    *response.status_mut() = status(&fault);
    *response.body_mut() = Body::from(body);
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(seconds) = retry_after(&fault) {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if hang_up {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn status(fault: &Fault) -> StatusCode {
    StatusCode::from_u16(fault.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A 429 always says when; whoever does not know says "in a second".
pub(crate) fn retry_after(fault: &Fault) -> Option<u64> {
    let least = (fault.code == Code::RateLimited).then_some(1);
    fault.retry_after_s.map(|s| s.max(1)).or(least)
}

/// What is our fault or our homeserver's is logged; what callers can bring about at will must not fill the log.
fn log(fault: &Fault, id: CorrelationId) {
    let (code, cause) = (fault.code.as_str(), fault.cause.as_deref().unwrap_or("unknown"));
    let correlation_id = id.text();
    match fault.code {
        Code::Internal => tracing::error!(code, cause, correlation_id, "a request failed"),
        Code::DependencyUnavailable => {
            tracing::warn!(code, cause, correlation_id, "a request could not be served")
        }
        _ if fault.code.status() >= 500 => {
            tracing::info!(code, cause, correlation_id, "a request was turned away")
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::tests::support::{ID, shown};

    #[rstest]
    #[case::given(Fault::new(Code::RateLimited, "Wait.").retry_after(7), Some("7"))]
    #[case::never_zero(Fault { retry_after_s: Some(0), ..Fault::new(Code::RateLimited, "Wait.") }, Some("1"))]
    #[case::unknown(Fault::new(Code::RateLimited, "Wait."), Some("1"))]
    #[case::on_a_503(Fault::unavailable("down").retry_after(3), Some("3"))]
    #[case::none(Fault::unavailable("down"), None)]
    fn retry_after_is_whole_seconds(#[case] fault: Fault, #[case] expected: Option<&str>) {
        let response = written(Refusal::from(fault).into_response(), ID);
        let header = response.headers().get(header::RETRY_AFTER).map(|v| v.to_str().unwrap());
        assert_eq!(header, expected);
    }

    #[tokio::test]
    async fn every_code_has_its_envelope() {
        let mut all = Vec::new();
        for code in Code::ALL {
            let fault = Fault::new(*code, "Do this next.").because("only for the log");
            all.push(shown(written(Refusal::from(fault).into_response(), ID)).await);
        }
        insta::assert_snapshot!(all.join("\n"));
    }

    #[tokio::test]
    async fn details_go_out_and_the_cause_does_not() {
        let fault = Fault::invalid("limit", "Give 1 to 50.").detail("max", 50).because("secret");
        let text = shown(written(Refusal::from(fault).into_response(), ID)).await;
        insta::assert_snapshot!(text);
        assert!(!text.contains("secret"));
    }

    #[tokio::test]
    async fn other_answers_pass_untouched() {
        let response = written((StatusCode::IM_A_TEAPOT, "short and stout").into_response(), ID);
        assert!(shown(response).await.ends_with("short and stout"));
    }
}
