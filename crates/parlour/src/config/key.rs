//! What a config key is: its name, its words for the operator, and how its value is read. The sections declare their
//! keys once (see `sections.rs`); reading, the hints for misspelt keys and `config.example.toml` come from that.

use toml::{Table, Value};

/// A key of a section.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// Lines of the doc comment.
    pub(crate) doc: &'static [&'static str],
    pub(crate) need: Need,
    pub(crate) shape: Shape,
}

/// A `[section]`, or one of many (`[[lobby]]`).
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static [&'static str],
    pub(crate) keys: &'static [Key],
}

/// What holds when a key is left out. The texts are TOML.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// An error; the text is an example.
    Required(&'static str),
    /// This value.
    Default(&'static str),
    /// Something that other keys decide, or nothing at all; the text is an example.
    Optional(&'static str),
}

/// How a value is written in an environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As it is, without quotes.
    Text,
    /// As TOML, or with commas between the entries.
    List,
    /// As TOML.
    Plain,
}

/// A type that a value can be read as. The error says what is wrong and what to write instead; it is shown to the
/// operator behind the key's name, and must not repeat anything that could hold a password.
pub(crate) trait Setting: Sized {
    const SHAPE: Shape;

    fn read(value: &Value) -> Result<Self, String>;

    /// What a [`Need::Optional`] key is when it is left out.
    fn absent() -> Option<Self> {
        None
    }
}

impl<T: Setting> Setting for Option<T> {
    const SHAPE: Shape = T::SHAPE;

    fn read(value: &Value) -> Result<Self, String> {
        T::read(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Setting> Setting for Vec<T> {
    const SHAPE: Shape = Shape::List;

    fn read(value: &Value) -> Result<Self, String> {
        let Value::Array(entries) = value else {
            return Err(mistaken("a list", "[\"...\"]", value));
        };
        let read = |(at, entry)| T::read(entry).map_err(|problem| format!("entry {}: {problem}", at + 1));
        entries.iter().enumerate().map(read).collect()
    }
}

impl Setting for bool {
    const SHAPE: Shape = Shape::Plain;

    fn read(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| mistaken("true or false", "without quotes", value))
    }
}

/// From 0 on.
impl Setting for u32 {
    const SHAPE: Shape = Shape::Plain;

    fn read(value: &Value) -> Result<Self, String> {
        let number = value.as_integer().ok_or_else(|| mistaken("a whole number", "without quotes", value))?;
        Self::try_from(number)
            .map_err(|_| format!("{number} is out of range; write a number from 0 to {}", Self::MAX))
    }
}

/// The wrong type. Names the type that was found, not the value.
pub(crate) fn mistaken(wanted: &str, how: &str, found: &Value) -> String {
    let found = match found {
        Value::String(_) => "text",
        Value::Integer(_) | Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    };
    format!("has to be {wanted} ({how}), but is {found}")
}

/// The text of a value, trimmed.
pub(crate) fn text(value: &Value) -> Result<&str, String> {
    let text = value.as_str().ok_or_else(|| mistaken("text", "in quotes", value))?.trim();
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text) }
}

/// One value written as TOML. The texts in [`Need`] are ours, and a test reads all of them.
pub(crate) fn value(toml: &str) -> Result<Value, String> {
    let mut table: Table = toml::from_str(&format!("value = {toml}")).map_err(|e| e.message().to_owned())?;
    match table.remove("value") {
        Some(value) if table.is_empty() => Ok(value),
        _ => Err("more than one value".to_owned()),
    }
}

/// Declares a section's struct together with the table of its keys, so that the two cannot drift apart.
macro_rules! section {
    ($(#[doc = $about:literal])* $section:literal $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $need:expr;)*
    }) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug)]
        #[allow(dead_code, reason = "some keys are accepted and checked now and used by later versions")]
        pub(crate) struct $name { $($(#[doc = $doc])* pub(crate) $field: $type,)* }

        impl $name {
            pub(crate) const SECTION: $crate::config::key::Section = $crate::config::key::Section {
                name: $section,
                doc: &[$($about),*],
                keys: &[$($crate::config::key::Key {
                    name: stringify!($field),
                    doc: &[$($doc),*],
                    need: $need,
                    shape: <$type as $crate::config::key::Setting>::SHAPE,
                },)*],
            };

            /// `None` where a problem was found; all of them are in the reader then.
            pub(crate) fn read(reader: &mut $crate::config::read::Reader<'_>) -> Option<Self> {
                $(let $field = reader.take::<$type>(stringify!($field), $need);)*
                reader.refuse_the_rest();
                Some(Self { $($field: $field?,)* })
            }
        }
    };
}

pub(crate) use section;
