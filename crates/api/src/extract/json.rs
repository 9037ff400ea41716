//! Reads JSON bodies.

use http::{HeaderMap, header};
use parlour_domain::fault::{Code, Fault};
use serde::de::DeserializeOwned;

use super::explain::explain;

/// Windows tools like to put one before the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// One JSON object, in UTF-8, announced as JSON, with known fields only.
///
/// # Errors
/// `invalid_request`; the field is named where there is one.
pub(super) fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Fault> {
    if !is_json(headers) {
        return Err(refuse("Send the header `Content-Type: application/json` with the body."));
    }
    let text =
        std::str::from_utf8(body).map_err(|_| refuse("The body is not valid UTF-8. Encode it as UTF-8."))?;
    parse(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

/// By its first character, since serde would read a list as an object's fields in their order.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    match text.trim_start().chars().next() {
        None => {
            return Err(refuse("The body is empty. Send a JSON object; `{}` where nothing is to be said."));
        }
        Some('{') => {}
        Some(_) => return Err(refuse("The body has to be one JSON object, like `{\"key\": \"value\"}`.")),
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|e| explain(&e))?;
    json.end().map_err(|_| refuse("Something follows the JSON object. Send the object alone."))?;
    Ok(value)
}

/// `application/json` in any case; parameters (`charset`) are not looked at.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn refuse(message: &str) -> Fault {
    Fault::new(Code::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Sample {
        text: String,
        #[serde(default)]
        room_id: Option<String>,
        #[serde(default)]
        mentions: Vec<String>,
        #[serde(default)]
        everyone: bool,
    }

    fn headers(kind: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().unwrap())])
    }

    fn sample(body: &[u8]) -> Result<Sample, Fault> {
        read(&headers("application/json"), body)
    }

    fn text(text: &str) -> Sample {
        Sample { text: text.to_owned(), ..Sample::default() }
    }

    #[rstest]
    #[case::plain(br#"{"text":"a"}"#)]
    #[case::blanks(b" \r\n{ \"text\" : \"a\" }\n")]
    #[case::null_is_absent(br#"{"text":"a","roomId":null}"#)]
    #[case::byte_order_mark(b"\xef\xbb\xbf{\"text\":\"a\"}")]
    fn read_as_meant(#[case] body: &[u8]) {
        assert_eq!(sample(body).unwrap(), text("a"));
    }

    const SHAPES: &[&str] = &[
        "",
        " ",
        "null",
        "[]",
        r#"["a"]"#,
        "\"text\"",
        "5",
        "text=a",
        "{",
        "{}",
        r#"{"text":"a"}x"#,
        r#"{"text":"a"}{"text":"a"}"#,
        r#"{"text":"a",}"#,
        "{'text':'a'}",
        r#"{"text":5}"#,
        r#"{"text":null}"#,
        r#"{"text":{"a":1}}"#,
        r#"{"text":["very secret"]}"#,
        r#"{"text":"a","everyone":"very secret"}"#,
        r#"{"text":"a","everyone":1}"#,
        r#"{"text":"a","roomId":1.5}"#,
        r#"{"text":"a","mentions":"@a:x"}"#,
        r#"{"text":"a","mentions":["@a:x",{}]}"#,
        r#"{"text":"a","mentions":null}"#,
        r#"{"text":"a","text":"b"}"#,
        r#"{"text":"a","roomID":"x"}"#,
        r#"{"text":"a","room_id":"x"}"#,
        r#"{"text":"a","":"x"}"#,
        r#"{"text":"\ud800"}"#,
        r#"{"text":"\udc00x"}"#,
        r#"{"text":"\x"}"#,
        "{\"text\":\"a\u{0}b\"}",
        "{\"text\":\"a\nb\"}",
        r#"{"text":"a","everyone":tru}"#,
        r#"{"text":"a","roomId":"\ud800"}"#,
    ];

    #[test]
    fn refused() {
        let told = |body: &&str| {
            let fault = sample(body.as_bytes()).unwrap_err();
            assert_eq!(fault.code, Code::InvalidRequest);
            assert!(!fault.message.contains("secret"), "values are not repeated");
            let field = fault.details.get("field").map(ToString::to_string).unwrap_or_default();
            format!("{body:?} {field}\n    {}", fault.message)
        };
        insta::assert_snapshot!(SHAPES.iter().map(told).collect::<Vec<_>>().join("\n"));
    }

    #[rstest]
    #[case(b"{\"text\":\"\xff\"}")]
    #[case(b"\xff\xfe{\0")]
    fn not_utf8(#[case] body: &[u8]) {
        assert!(sample(body).unwrap_err().message.contains("UTF-8"));
    }

    #[test]
    fn deep_nesting_is_refused_at_its_first_level() {
        let deep = format!(r#"{{"text":{}"#, "[".repeat(100_000));
        assert_eq!(sample(deep.as_bytes()).unwrap_err().details["field"], "text");
        let deep = r#"{"a":"#.repeat(10_000);
        assert_eq!(sample(deep.as_bytes()).unwrap_err().details["field"], "a");
    }

    #[rstest]
    #[case("application/json", true)]
    #[case("Application/JSON;charset=utf-8", true)]
    #[case("application/json ; x=y", true)]
    #[case("", false)]
    #[case("text/plain", false)]
    #[case("text/json", false)]
    #[case("application/merge-patch+json", false)]
    #[case("application/jsonx", false)]
    #[case("application/x-www-form-urlencoded", false)]
    fn content_types(#[case] kind: &str, #[case] fine: bool) {
        assert_eq!(read::<Sample>(&headers(kind), br#"{"text":"a"}"#).is_ok(), fine);
    }

    #[test]
    fn a_missing_content_type_is_refused() {
        let fault = read::<Sample>(&HeaderMap::new(), br#"{"text":"a"}"#).unwrap_err();
        assert!(fault.message.contains("Content-Type: application/json"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body: Vec<u8>) {
            prop_assert!(sample(&body).is_err());
        }

        #[test]
        fn any_text_comes_through(said: String) {
            let body = serde_json::json!({ "text": said }).to_string();
            prop_assert_eq!(sample(body.as_bytes()).unwrap(), text(&said));
        }
    }
}
