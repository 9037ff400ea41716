//! Arguments as hosts send them. Models and hosts write numbers as texts, lists as JSON in a text, and "null" for
//! nothing. What can only mean one thing is taken as that; all else is refused by name.

use parlour_domain::fault::{Code, Fault};
use rmcp::model::JsonObject;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

const TOKEN: &str = "token";

/// Longer names are cut: callers choose them.
const MAX_NAME: usize = 64;

/// The arguments that a tool has, as its schema says.
#[derive(Debug)]
pub(super) struct Known {
    tool: &'static str,
    args: Vec<Arg>,
}

#[derive(Debug)]
struct Arg {
    name: String,
    kind: Kind,
    required: bool,
}

#[derive(Debug, PartialEq)]
enum Kind {
    Text,
    /// Whole, not below nought.
    Number,
    Flag,
    /// Of texts.
    List,
    Word(Vec<String>),
}

/// Takes the token out, however it is spelt; nothing else of it is looked at here.
///
/// # Errors
/// It is no text.
pub(super) fn token(args: &mut JsonObject) -> Result<Option<SecretString>, Fault> {
    let Some(key) = args.keys().find(|key| plain(key) == TOKEN).cloned() else { return Ok(None) };
    match args.remove(&key) {
        Some(Value::String(text)) => {
            let text = text.trim();
            let text = text.strip_prefix("Bearer ").unwrap_or(text).trim();
            Ok((!is_nothing(text)).then(|| text.to_owned().into()))
        }
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(Fault::invalid(TOKEN, "token has to be a string.")),
    }
}

impl Known {
    pub(super) fn of(tool: &'static str, schema: &JsonObject) -> Self {
        let required = |name: &str| {
            let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            names.into_iter().any(|n| n == name)
        };
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let args = properties.map(|(name, of)| Arg {
            name: name.clone(),
            kind: Kind::of(of, schema),
            required: required(name),
        });
        Self { tool, args: args.collect() }
    }

    /// # Errors
    /// `invalid_request` that names the argument.
    pub(super) fn read<T: DeserializeOwned>(&self, given: JsonObject) -> Result<T, Fault> {
        let mut read = JsonObject::new();
        for (name, value) in given {
            let arg = self.find(&name)?;
            let Some(value) = arg.read(value)? else { continue };
            if read.insert(arg.name.clone(), value).is_some() {
                return Err(Fault::invalid(&arg.name, format!("{} is there twice. Give it once.", arg.name)));
            }
        }
        if let Some(missing) = self.args.iter().find(|a| a.required && !read.contains_key(&a.name)) {
            return Err(Fault::invalid(&missing.name, format!("{} is missing. Add it.", missing.name)));
        }
        // cannot fail: each value has the type that the schema of T gives it
        serde_json::from_value(Value::Object(read))
            .map_err(|_| Fault::new(Code::InvalidRequest, "The arguments do not fit the tool's schema."))
    }

    /// Also as `room_id` or `RoomId`.
    fn find(&self, name: &str) -> Result<&Arg, Fault> {
        let exact = self.args.iter().find(|arg| arg.name == name);
        let alike = || self.args.iter().find(|arg| plain(&arg.name) == plain(name));
        exact.or_else(alike).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Fault {
        let name: String = name.chars().take(MAX_NAME).collect();
        let known: Vec<&str> = self.args.iter().map(|arg| arg.name.as_str()).collect();
        let advice = match known.as_slice() {
            [] => format!("{} takes none.", self.tool),
            known => format!("{} takes {}.", self.tool, known.join(", ")),
        };
        Fault::invalid(&name, format!("Unknown argument `{name}`. {advice}"))
    }
}

/// Letters and digits only, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// What hosts write where an optional argument is left out.
fn is_nothing(text: &str) -> bool {
    text.is_empty() || text == "null"
}

impl Kind {
    fn of(property: &Value, schema: &JsonObject) -> Self {
        let types = property.get("type").map(Value::to_string).unwrap_or_default();
        let is = |name: &str| types.contains(&format!("\"{name}\""));
        if is("integer") {
            Self::Number
        } else if is("boolean") {
            Self::Flag
        } else if is("array") {
            Self::List
        } else if is("string") {
            Self::Text
        } else {
            Self::Word(words(property, schema))
        }
    }

    fn expected(&self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Number => "a whole number, 0 or more".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::List => "a list of strings, like [\"a\", \"b\"]".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
        }
    }

    fn read(&self, value: Value) -> Option<Value> {
        match (self, value) {
            (Self::Text, Value::String(text)) => Some(Value::String(text)),
            (Self::Number, value) => number(&value).map(Value::from),
            (Self::Flag, value) => flag(&value).map(Value::Bool),
            (Self::List, value) => list(value),
            (Self::Word(words), Value::String(word)) if words.contains(&word) => Some(Value::String(word)),
            _ => None,
        }
    }
}

/// Of a definition that the property points at.
fn words(property: &Value, schema: &JsonObject) -> Vec<String> {
    let forms = property.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let name = forms.filter_map(|form| form["$ref"].as_str()).find_map(|r| r.rsplit('/').next());
    let defs = schema.get("$defs");
    let words = name.and_then(|name| defs?.get(name)?.get("enum")?.as_array());
    words.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Arg {
    /// `None`: left out.
    fn read(&self, value: Value) -> Result<Option<Value>, Fault> {
        let nothing = value.is_null() || value.as_str().is_some_and(is_nothing);
        if nothing && (!self.required || value.is_null()) {
            return Ok(None);
        }
        let wrong =
            || Fault::invalid(&self.name, format!("{} has to be {}.", self.name, self.kind.expected()));
        self.kind.read(value).map(Some).ok_or_else(wrong)
    }
}

/// One beyond 64 bits is the largest there is: ranges are the rules' business.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => whole(number),
        Value::String(text) => {
            let text = text.trim();
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            if digits { Some(text.parse().unwrap_or(u64::MAX)) } else { whole(&text.parse().ok()?) }
        }
        _ => None,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole and not below nought; the cast stops at the largest"
)]
fn whole(number: &Number) -> Option<u64> {
    let float = || number.as_f64().filter(|f| f.fract() == 0.0 && *f >= 0.0).map(|f| f as u64);
    number.as_u64().or_else(float)
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn list(value: Value) -> Option<Value> {
    let value = match value {
        Value::String(text) => serde_json::from_str(&text).ok()?,
        value => value,
    };
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string)).then_some(value)
}
