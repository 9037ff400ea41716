//! The envelope of JSON-RPC 2.0, read with care: what comes may be anything.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

/// A few waits or a whole turn fit; more would hold a connection for minutes.
const MAX_BATCH: usize = 20;

const META: &str = "_meta";

/// What one POST carries.
#[derive(Debug)]
pub(super) enum Incoming {
    Call(Call),
    /// A notification: nothing is said to it.
    Silent,
    /// Several at once, as protocol version 2025-03-26 has it; `None` for what gets no answer.
    Batch(Vec<Option<Result<Call, Refused>>>),
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    /// A text or a whole number.
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Value,
}

impl Call {
    pub(super) fn meta(&self) -> Option<&Map<String, Value>> {
        self.params.get(META)?.as_object()
    }

    /// Whether the request itself names its protocol version, as those from 2026-07-28 on do.
    pub(super) fn names_version(&self) -> bool {
        self.meta().is_some_and(|m| m.contains_key("io.modelcontextprotocol/protocolVersion"))
    }

    /// The message with these parameters and what it says about itself.
    pub(super) fn with(self, params: Map<String, Value>) -> Self {
        let mut params = params;
        if let Some(meta) = self.meta() {
            params.insert(META.to_owned(), Value::Object(meta.clone()));
        }
        Self { params: Value::Object(params), ..self }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params});
        message.to_string().into_bytes()
    }
}

/// A refusal in the protocol's own form. Nothing of the request is repeated in it but its id.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refused {
    status: StatusCode,
    code: i32,
    message: Cow<'static, str>,
    id: Value,
}

impl Refused {
    fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, message: message.into(), id: Value::Null }
    }

    pub(super) fn unreadable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(-32700, message)
    }

    pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(-32600, message)
    }

    pub(super) fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self { status: StatusCode::FORBIDDEN, ..Self::invalid(message) }
    }

    pub(super) fn params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(-32602, message)
    }

    pub(super) fn about(self, call: &Call) -> Self {
        Self { id: call.id.clone(), ..self }
    }

    pub(super) fn body(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "error": {"code": self.code, "message": self.message}})
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        json_response(self.status, self.body().to_string().into_bytes())
    }
}

pub(super) fn json_response(status: StatusCode, body: Vec<u8>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// # Errors
/// -32700 for what is no JSON, -32600 for JSON that is no message.
pub(super) fn read(body: &[u8]) -> Result<Incoming, Refused> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let value = serde_json::from_slice(body).map_err(|_| {
        Refused::unreadable("The body is not valid JSON in UTF-8. Send one JSON-RPC 2.0 message.")
    })?;
    match value {
        Value::Array(items) => batch(items),
        value => Ok(message(value)?.map_or(Incoming::Silent, Incoming::Call)),
    }
}

fn batch(items: Vec<Value>) -> Result<Incoming, Refused> {
    if items.is_empty() || items.len() > MAX_BATCH {
        return Err(Refused::invalid(format!(
            "A batch has 1 to {MAX_BATCH} messages. Send them one by one."
        )));
    }
    let first = |call: &Call| call.method == "initialize";
    let item = |value| match message(value) {
        Ok(Some(call)) if first(&call) => {
            Some(Err(Refused::invalid("initialize stands alone, outside a batch.").about(&call)))
        }
        other => other.transpose(),
    };
    Ok(Incoming::Batch(items.into_iter().map(item).collect()))
}

/// `None`: a notification.
fn message(value: Value) -> Result<Option<Call>, Refused> {
    let Value::Object(mut message) = value else {
        return Err(Refused::invalid("A message is a JSON object with jsonrpc, id and method."));
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Refused::invalid("The member jsonrpc has to be \"2.0\"."));
    }
    let Some(Value::String(method)) = message.remove("method") else {
        return Err(Refused::invalid(
            "The member method is missing. This server takes requests and notifications.",
        ));
    };
    let Some(id) = message.remove("id") else { return Ok(None) };
    if !is_id(&id) {
        return Err(Refused::invalid("The member id has to be a text or a whole number of at most 53 bits."));
    }
    Ok(Some(Call { id, method, params: message.remove("params").unwrap_or_default() }))
}

/// Numbers as far as every JSON parser reads them alike (RFC 8259, 6).
fn is_id(id: &Value) -> bool {
    const MAX: f64 = 9_007_199_254_740_992.0;
    match id {
        Value::String(_) => true,
        Value::Number(number) => number.as_f64().is_some_and(|n| n.fract() == 0.0 && n.abs() < MAX),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn code(body: &str) -> i32 {
        read(body.as_bytes()).unwrap_err().code
    }

    #[rstest]
    #[case::nothing("", -32700)]
    #[case::cut("{", -32700)]
    #[case::not_json("hello", -32700)]
    #[case::two(r#"{"jsonrpc":"2.0","method":"x"}{}"#, -32700)]
    #[case::text(r#""hello""#, -32600)]
    #[case::null("null", -32600)]
    #[case::no_batch("[]", -32600)]
    #[case::empty("{}", -32600)]
    #[case::old(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600)]
    #[case::no_method(r#"{"jsonrpc":"2.0","id":1}"#, -32600)]
    #[case::odd_method(r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600)]
    #[case::an_answer(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600)]
    #[case::null_id(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600)]
    #[case::broken_id(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600)]
    #[case::huge_id(r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#, -32600)]
    #[case::id_of_another_type(r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600)]
    fn refused(#[case] body: &str, #[case] expected: i32) {
        assert_eq!(code(body), expected);
    }

    #[test]
    fn deep_nesting_and_large_batches_are_refused() {
        assert_eq!(code(&"[".repeat(100_000)), -32700);
        let one = r#"{"jsonrpc":"2.0","method":"x"}"#;
        assert_eq!(code(&format!("[{}]", [one; 21].join(","))), -32600);
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(read(b"{\"jsonrpc\":\"\xff\"}").unwrap_err().code, -32700);
    }

    #[test]
    fn calls_and_notifications() {
        let body = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\",\"more\":1}";
        let expected = Call { id: json!("a"), method: "ping".to_owned(), params: Value::Null };
        assert!(matches!(read(body.as_bytes()), Ok(Incoming::Call(call)) if call == expected));
        let body = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(matches!(read(body), Ok(Incoming::Silent)));
    }

    #[test]
    fn a_batch_keeps_what_is_wrong_in_its_place() {
        let body = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},5,
            {"jsonrpc":"2.0","id":2,"method":"initialize"}]"#;
        let Ok(Incoming::Batch(items)) = read(body.as_bytes()) else { panic!("no batch") };
        let shown: Vec<_> = items.iter().map(|i| i.as_ref().map(Result::is_ok)).collect();
        assert_eq!(shown, [Some(true), None, Some(false), Some(false)]);
    }
}
