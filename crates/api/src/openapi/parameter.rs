use serde_json::{Value, json};

/// A parameter of a query, as it is read and as it is told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) what: &'static str,
    pub(crate) example: &'static str,
}

/// How a value is read; see `extract::Pairs`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Blank is absent.
    Text,
    /// So many texts at least and at most, with commas between; blank ones are absent.
    Texts(usize, usize),
    /// A whole number in this range.
    Number(u64, u64),
    /// A whole number of any size; one that is too large is taken for the largest.
    Whole,
    Flag,
    Word(&'static [&'static str]),
}

impl Parameter {
    pub(super) fn told(&self) -> Value {
        let example = match self.kind {
            Kind::Text | Kind::Word(_) => json!(self.example),
            Kind::Texts(..) => json!(self.example.split(',').collect::<Vec<_>>()),
            Kind::Number(..) | Kind::Whole | Kind::Flag => {
                serde_json::from_str(self.example).unwrap_or_default()
            }
        };
        let required = matches!(self.kind, Kind::Texts(1.., _));
        let mut told = json!({
            "name": self.name, "in": "query", "required": required, "description": self.what, "schema": self.schema(), "example": example,
        });
        if let Kind::Texts(..) = self.kind {
            told["style"] = json!("form");
            told["explode"] = json!(false);
        }
        told
    }

    fn schema(&self) -> Value {
        match self.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Texts(least, most) => {
                json!({"type": "array", "items": {"type": "string"}, "minItems": least, "maxItems": most})
            }
            Kind::Number(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Kind::Whole => json!({"type": "integer", "minimum": 0}),
            Kind::Flag => json!({"type": "boolean", "default": false}),
            Kind::Word(words) => json!({"type": "string", "enum": words}),
        }
    }
}
