//! The schemas of the tools, in the forms that hosts can be served with.
//!
//! As they are derived they hold `$ref`, `anyOf` and null types, which some hosts cannot read: `flat` is without. Schemas
//! of what comes back are given only where asked for (`output`): clients that check results against them are many, and
//! each costs an agent context.

use rmcp::model::JsonObject;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    jsonrpc::Refused,
    tools::{By, Tool},
};
use crate::{error::Envelope, wire::Versioned};

/// What `/mcp?schemas=` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Schemas {
    pub(super) flat: bool,
    pub(super) output: bool,
}

impl Schemas {
    pub(super) const ALL: [Self; 4] = [
        Self { flat: false, output: false },
        Self { flat: true, output: false },
        Self { flat: false, output: true },
        Self { flat: true, output: true },
    ];

    /// Its place in [`ALL`](Self::ALL).
    pub(super) fn index(self) -> usize {
        usize::from(self.flat) + 2 * usize::from(self.output)
    }

    /// Other parameters are none of ours: hosts and proxies add some.
    ///
    /// # Errors
    /// It asks for something that there is not.
    pub(super) fn of(query: Option<&str>) -> Result<Self, Refused> {
        let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let words = pairs.filter(|(key, _)| *key == "schemas").flat_map(|(_, value)| value.split(','));
        words.filter(|w| !w.is_empty()).try_fold(Self::default(), |schemas, word| match word {
            "flat" => Ok(Self { flat: true, ..schemas }),
            "output" => Ok(Self { output: true, ..schemas }),
            _ => Err(Refused::invalid("schemas in the address has to be flat or output, or flat,output.")),
        })
    }

    /// A schema of arguments.
    pub(super) fn shaped(self, schema: JsonObject) -> JsonObject {
        if self.flat { flat(schema) } else { schema }
    }

    /// A schema of results. Flat, it only names the fields.
    pub(super) fn output_shaped(self, alternatives: [JsonObject; 2]) -> JsonObject {
        if self.flat { fields(alternatives.map(inlined)) } else { either(alternatives) }
    }
}

fn generator(settings: SchemaSettings) -> SchemaGenerator {
    settings.into_generator()
}

/// What a tool takes. Whoever has to sign may do it with an argument.
pub(super) fn input<T: Tool>() -> JsonObject {
    let schema = generator(SchemaSettings::draft2020_12()).into_root_schema_for::<T::Args>();
    let mut schema = object(schema.to_value());
    // of the Rust type, for those who read the code
    schema.remove("title");
    schema.remove("description");
    if T::By::SIGNED {
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        properties["token"] = json!({
            "description": "Only if your host sends no Authorization header",
            "type": ["string", "null"],
            "maxLength": 512
        });
    }
    schema
}

/// What a tool gives: the body, or the envelope of an error.
pub(super) fn output<B: JsonSchema>() -> [JsonObject; 2] {
    let schema = |of: fn(&mut SchemaGenerator) -> schemars::Schema| {
        let mut settings = generator(SchemaSettings::draft2020_12().for_serialize());
        let mut schema = object(of(&mut settings).to_value());
        let defs = settings.take_definitions(true);
        if !defs.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(defs));
        }
        schema.remove("title");
        schema
    };
    [schema(Versioned::<B>::json_schema), schema(Envelope::json_schema)]
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// The protocol wants an object at the root (MCP, Tool.outputSchema).
fn either(alternatives: [JsonObject; 2]) -> JsonObject {
    let mut defs = Map::new();
    let any = alternatives.map(|mut schema| {
        if let Some(Value::Object(own)) = schema.remove("$defs") {
            defs.extend(own);
        }
        Value::Object(schema)
    });
    let either = json!({"type": "object", "anyOf": any, "$defs": defs});
    object(either)
}

/// All fields of both, none of them required.
fn fields(alternatives: [JsonObject; 2]) -> JsonObject {
    let mut all = Map::new();
    for schema in alternatives {
        gather(&Value::Object(schema), &mut all);
    }
    object(json!({"type": "object", "properties": all}))
}

/// Fields of an object, also those that only some of its forms have.
fn gather(schema: &Value, all: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        all.extend(properties.iter().map(|(name, of)| (name.clone(), loose(of))));
    }
    for form in ["anyOf", "oneOf", "allOf"] {
        let forms = schema.get(form).and_then(Value::as_array).into_iter().flatten();
        forms.for_each(|form| gather(form, all));
    }
}

/// A field's schema, where a choice of several is left open.
fn loose(schema: &Value) -> Value {
    let choice = ["anyOf", "oneOf", "allOf"].iter().any(|form| schema.get(form).is_some());
    let mut plain = schema.as_object().cloned().unwrap_or_default();
    if choice {
        let mut all = Map::new();
        gather(schema, &mut all);
        plain.retain(|key, _| key == "description");
        plain.insert("type".to_owned(), json!("object"));
        plain.insert("properties".to_owned(), Value::Object(all));
    } else {
        one_type(&mut plain);
        if let Some(Value::Object(properties)) = plain.get_mut("properties") {
            properties.values_mut().for_each(|of| *of = loose(of));
        }
        if let Some(items) = plain.get_mut("items") {
            *items = loose(items);
        }
    }
    Value::Object(plain)
}

fn flat(schema: JsonObject) -> JsonObject {
    let mut schema = inlined(schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            one_of_one(property);
            one_type(property);
        }
    }
    schema
}

/// `anyOf` with null is that what is not null.
fn one_of_one(property: &mut Map<String, Value>) {
    let Some(Value::Array(forms)) = property.remove("anyOf") else { return };
    let form = forms.into_iter().find(|form| form["type"] != "null");
    if let Some(Value::Object(form)) = form {
        for (key, value) in form {
            property.entry(key).or_insert(value);
        }
    }
}

/// `["string", "null"]` is `"string"`.
fn one_type(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get("type")
        && let Some(one) = types.iter().find(|t| *t != "null").cloned()
    {
        schema.insert("type".to_owned(), one);
    }
}

/// With each `$ref` replaced by what it stands for. None of ours goes in circles.
fn inlined(mut schema: JsonObject) -> JsonObject {
    let defs = schema.remove("$defs").unwrap_or_default();
    object(inline(Value::Object(schema), &defs))
}

fn inline(value: Value, defs: &Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| inline(item, defs)).collect(),
        Value::Object(mut object) => {
            let name = object.remove("$ref");
            let name = name.as_ref().and_then(Value::as_str).and_then(|r| r.rsplit('/').next());
            if let Some(Value::Object(meant)) = name.and_then(|name| defs.get(name)).cloned() {
                for (key, value) in meant {
                    object.entry(key).or_insert(value);
                }
            }
            Value::Object(object.into_iter().map(|(key, value)| (key, inline(value, defs))).collect())
        }
        value => value,
    }
}
