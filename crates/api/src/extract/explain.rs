//! Says in our words what serde found wrong with a body. Its own words repeat values, and a value can be a secret.

use parlour_domain::fault::{Code, Fault};
use serde_json::error::Category;
use serde_path_to_error::Error;

/// Longer names are cut: callers choose them.
const MAX_NAME: usize = 64;

/// The fault for a body that cannot be read, with the field where one is known.
pub(super) fn explain(error: &Error<serde_json::Error>) -> Fault {
    let (place, json) = (Place::of(error), error.inner());
    match json.classify() {
        Category::Data => shape(place, &json.to_string()),
        _ => syntax(place, json),
    }
}

fn syntax(place: Option<Place>, json: &serde_json::Error) -> Fault {
    let at = format!("line {}, column {}", json.line(), json.column());
    let text = json.to_string();
    let what = if text.contains("surrogate") || text.contains("hex escape") {
        format!(
            "A \\u escape is not a whole character ({at}). Send both halves of a surrogate pair, or plain UTF-8."
        )
    } else if text.contains("control character") {
        format!("A text holds a raw control character ({at}). Escape it, like \\n.")
    } else {
        format!("The body is not valid JSON ({at}). Send one JSON object.")
    };
    with_field(what, place.map(|p| p.field))
}

/// The message's form is serde's: `unknown field `x`, ...`, `invalid type: string "..", expected a boolean at line ..`.
fn shape(place: Option<Place>, text: &str) -> Fault {
    let name = text.split('`').nth(1).map(cut).unwrap_or_default();
    let advice = match text.split('`').next() {
        Some("unknown field ") => format!("Unknown field `{name}`. {}", known(text)),
        Some("missing field ") => format!("The field `{name}` is missing. Add it."),
        Some("duplicate field ") => format!("The field `{name}` is there twice. Give it once."),
        _ => return wrong_type(place, text),
    };
    with_field(advice, Some(name))
}

fn wrong_type(place: Option<Place>, text: &str) -> Fault {
    let wanted = text.rsplit_once(", expected ").map_or("", |(_, wanted)| wanted);
    let wanted = match wanted.split(" at line").next().unwrap_or_default() {
        "a string" => "a string",
        "a boolean" => "true or false",
        "a sequence" => "a list of strings",
        _ => "of another type",
    };
    let what = match &place {
        None => "The body".to_owned(),
        Some(Place { field, inside: false }) => field.clone(),
        Some(Place { field, inside: true }) => format!("Each item of {field}"),
    };
    let null = if text.contains("invalid type: null") { " (null is not allowed here)" } else { "" };
    with_field(format!("{what} has to be {wanted}{null}."), place.map(|p| p.field))
}

/// The fields that serde lists after an unknown one: all backquoted words but the first.
fn known(text: &str) -> String {
    let names: Vec<&str> =
        text.rsplit_once(", expected ").map_or("", |(_, rest)| rest).split('`').skip(1).step_by(2).collect();
    if names.is_empty() { "Leave it out.".to_owned() } else { format!("Known are {}.", names.join(", ")) }
}

/// Where in a body: the field that the caller has to mend, and whether it is something inside it (`mentions[3]`).
struct Place {
    field: String,
    inside: bool,
}

impl Place {
    fn of(error: &Error<serde_json::Error>) -> Option<Self> {
        let path = error.path().to_string();
        let top = path.split(['.', '[']).next().filter(|p| !p.is_empty() && *p != "?")?;
        Some(Self { field: cut(top), inside: top.len() < path.len() })
    }
}

fn cut(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}

fn with_field(message: String, field: Option<String>) -> Fault {
    let fault = Fault::new(Code::InvalidRequest, message);
    match field {
        Some(field) => fault.field(&field),
        None => fault,
    }
}
