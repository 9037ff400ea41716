//! From types to the document's schemas.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{error::Envelope, wire::Versioned};

/// A body's schema, not made yet: definitions are shared by the whole document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    name: fn() -> std::borrow::Cow<'static, str>,
    make: fn(&mut SchemaGenerator) -> Schema,
}

impl Shape {
    pub(super) fn read<T: JsonSchema>() -> Self {
        Self { name: T::schema_name, make: T::json_schema }
    }

    pub(super) fn written<T: JsonSchema>() -> Self {
        Self { name: T::schema_name, make: Versioned::<T>::json_schema }
    }
}

/// `components/schemas` in the making. What is read and what is written differ: a field that may be left out of a request
/// is one that an answer may leave out only if it says so.
pub(super) struct Schemas {
    read: SchemaGenerator,
    written: SchemaGenerator,
    made: Map<String, Value>,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|s| {
                s.meta_schema = None;
                s.definitions_path = "/components/schemas".into();
            })
        };
        Self {
            read: settings().for_deserialize().into_generator(),
            written: settings().for_serialize().into_generator(),
            made: Map::new(),
        }
    }

    /// A reference to what a request's body has to be.
    pub(super) fn read(&mut self, shape: Shape) -> Value {
        let schema = (shape.make)(&mut self.read);
        self.put(shape, schema)
    }

    /// A reference to what an answer's body is.
    pub(super) fn written(&mut self, shape: Shape) -> Value {
        let schema = (shape.make)(&mut self.written);
        self.put(shape, schema)
    }

    /// The body of every error.
    pub(super) fn error(&mut self) -> Value {
        Envelope::json_schema(&mut self.written).to_value()
    }

    fn put(&mut self, shape: Shape, schema: Schema) -> Value {
        let name = (shape.name)().into_owned();
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        self.made.insert(name, schema.to_value());
        reference
    }

    /// All of them, by name.
    pub(super) fn finish(mut self) -> Map<String, Value> {
        let mut all = self.made;
        // a body is written with `schemaVersion`, its type inside another is not: one name would be two things
        debug_assert!(self.written.definitions().keys().all(|name| !all.contains_key(name)));
        for generator in [&mut self.written, &mut self.read] {
            all.extend(generator.take_definitions(true));
        }
        all.values_mut().for_each(without_false_nulls);
        all
    }
}

/// A property that may be left out is never null in our answers, and one of a request that is null counts as left out: a
/// null that is said is one that is sent.
fn without_false_nulls(schema: &mut Value) {
    let Value::Object(object) = schema else {
        if let Value::Array(items) = schema {
            items.iter_mut().for_each(without_false_nulls);
        }
        return;
    };
    let closed = object.get("additionalProperties") == Some(&Value::Bool(false));
    let required = object.get("required").cloned().unwrap_or_default();
    let is_required = |name: &String| required.as_array().is_some_and(|r| r.contains(&json!(name)));
    if let Some(Value::Object(properties)) = object.get_mut("properties")
        && !closed
    {
        properties.iter_mut().filter(|(name, _)| !is_required(name)).for_each(|(_, p)| drop_null(p));
    }
    object.values_mut().for_each(without_false_nulls);
}

fn drop_null(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            object["type"] = only.clone();
        }
    }
    if let Some(Value::Array(any)) = object.get_mut("anyOf") {
        any.retain(|s| s != &json!({"type": "null"}));
        if let [Value::Object(only)] = any.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}
