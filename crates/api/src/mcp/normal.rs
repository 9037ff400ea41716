//! Parameters of the methods we know, in the form that the protocol gives them. Hosts differ in what they send; what can
//! only mean one thing is taken as that.

use serde_json::{Map, Value, json};

use super::{
    jsonrpc::{Call, Refused},
    version::is_version,
};

/// The call as rmcp reads it.
///
/// # Errors
/// -32602: the parameters cannot be read.
pub(super) fn normal(call: Call) -> Result<Call, Refused> {
    match call.method.as_str() {
        "initialize" => initialize(call),
        "tools/call" => tools_call(call),
        // the others take none that we look at
        _ => Ok(call.with(Map::new())),
    }
}

/// Only the version matters. What the client can do and what it calls itself is nothing that we use, and must not be a
/// reason to fail.
fn initialize(call: Call) -> Result<Call, Refused> {
    let version =
        call.params.get("protocolVersion").and_then(Value::as_str).map(str::trim).map(str::to_owned);
    let Some(version) = version.filter(|v| is_version(v)) else {
        let message = "params.protocolVersion has to be a version, such as 2025-11-25.";
        return Err(Refused::params(message).about(&call));
    };
    let client = json!({"name": "client", "version": "0"});
    let params = [
        ("protocolVersion".to_owned(), Value::String(version)),
        ("capabilities".to_owned(), json!({})),
        ("clientInfo".to_owned(), client),
    ];
    Ok(Call { params: Value::Object(Map::from_iter(params)), ..call })
}

fn tools_call(call: Call) -> Result<Call, Refused> {
    let Some(name) = call.params.get("name").and_then(Value::as_str).map(str::to_owned) else {
        return Err(
            Refused::params("params.name has to be the name of a tool; tools/list has them.").about(&call)
        );
    };
    let given = call.params.get("arguments").cloned().unwrap_or_default();
    let Some(arguments) = object(given) else {
        return Err(
            Refused::params("params.arguments has to be an object, like {\"text\": \"Hello\"}.").about(&call)
        );
    };
    let params =
        [("name".to_owned(), Value::String(name)), ("arguments".to_owned(), Value::Object(arguments))];
    Ok(call.with(Map::from_iter(params)))
}

/// No arguments come as nothing, as null, as an empty text or as an empty list (hosts in PHP); an object also as its JSON
/// in a text.
fn object(given: Value) -> Option<Map<String, Value>> {
    match given {
        Value::Object(arguments) => Some(arguments),
        Value::Null => Some(Map::new()),
        Value::Array(items) if items.is_empty() => Some(Map::new()),
        Value::String(text) if text.trim().is_empty() => Some(Map::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => Some(arguments),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn call(method: &str, params: Value) -> Call {
        Call { id: json!(1), method: method.to_owned(), params }
    }

    #[rstest]
    #[case(json!({"name": "t"}), json!({}))]
    #[case(json!({"name": "t", "arguments": null}), json!({}))]
    #[case(json!({"name": "t", "arguments": []}), json!({}))]
    #[case(json!({"name": "t", "arguments": " "}), json!({}))]
    #[case(json!({"name": "t", "arguments": {"a": 1}}), json!({"a": 1}))]
    #[case(json!({"name": "t", "arguments": "{\"a\": 1}"}), json!({"a": 1}))]
    #[case(json!({"name": "t", "arguments": {}, "task": {}, "more": 1}), json!({}))]
    fn arguments_in_many_forms(#[case] params: Value, #[case] arguments: Value) {
        let read = normal(call("tools/call", params)).unwrap();
        assert_eq!(read.params, json!({"name": "t", "arguments": arguments}));
    }

    #[rstest]
    #[case("tools/call", Value::Null)]
    #[case("tools/call", json!([]))]
    #[case("tools/call", json!({"name": 5}))]
    #[case("tools/call", json!({"name": "t", "arguments": 5}))]
    #[case("tools/call", json!({"name": "t", "arguments": [1]}))]
    #[case("tools/call", json!({"name": "t", "arguments": "text"}))]
    #[case("initialize", Value::Null)]
    #[case("initialize", json!({"protocolVersion": "banana"}))]
    #[case("initialize", json!({"protocolVersion": 2025}))]
    fn refused(#[case] method: &str, #[case] params: Value) {
        let refused = normal(call(method, params)).unwrap_err().body();
        assert_eq!(refused["error"]["code"], -32602);
        assert_eq!(refused["id"], 1);
    }

    #[test]
    fn what_a_client_says_of_itself_is_left_alone() {
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": 7}, "clientInfo": "me"});
        let read = normal(call("initialize", params)).unwrap().params;
        assert_eq!(
            (read["protocolVersion"].as_str(), &read["capabilities"]),
            (Some("2025-06-18"), &json!({}))
        );
    }

    #[test]
    fn only_the_meta_of_other_methods_is_kept() {
        let read = normal(call("tools/list", json!({"cursor": 5, "_meta": {"a": 1}}))).unwrap();
        assert_eq!(read.params, json!({"_meta": {"a": 1}}));
        for odd in [json!([]), json!({"_meta": 5}), json!("x")] {
            assert_eq!(normal(call("tools/list", odd)).unwrap().params, json!({}));
        }
    }
}
