//! The tools as one table, made once: how they are listed, and how a call finds its way into one.

use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool as Listed};
use serde_json::Value;

use super::{
    args::{self, Known},
    desk::Asked,
    said::Outcome,
    schema::{self, Schemas},
    tools::{By, Tool, table},
};
use crate::extract::Shared;

static CATALOG: LazyLock<Vec<Entry>> = LazyLock::new(table);

static LISTS: LazyLock<[Vec<Listed>; 4]> =
    LazyLock::new(|| Schemas::ALL.map(|schemas| CATALOG.iter().map(|entry| (entry.list)(schemas)).collect()));

type Call = fn(&'static Entry, Shared, Asked, JsonObject) -> BoxFuture<'static, Outcome<Value>>;

/// A tool without its types.
pub(super) struct Entry {
    pub(super) name: &'static str,
    known: Known,
    list: fn(Schemas) -> Listed,
    call: Call,
}

impl Entry {
    pub(super) fn of<T: Tool>() -> Self {
        let known = Known::of(T::NAME, &schema::input::<T>());
        Self {
            name: T::NAME,
            known,
            list: list::<T>,
            call: |entry, api, asked, args| Box::pin(call::<T>(entry, api, asked, args)),
        }
    }

    pub(super) fn call(
        &'static self,
        api: Shared,
        asked: Asked,
        args: JsonObject,
    ) -> BoxFuture<'static, Outcome<Value>> {
        (self.call)(self, api, asked, args)
    }
}

pub(super) fn find(name: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.name == name)
}

pub(super) fn listed(schemas: Schemas) -> Vec<Listed> {
    LISTS[schemas.index()].clone()
}

fn list<T: Tool>(schemas: Schemas) -> Listed {
    let listed = Listed::new(T::NAME, T::ABOUT, schemas.shaped(schema::input::<T>()))
        .with_title(T::TITLE)
        .with_annotations(T::HINTS.annotations());
    if schemas.output {
        let output = schemas.output_shaped(schema::output::<T::Body>());
        return listed.with_raw_output_schema(output.into());
    }
    listed
}

/// In the order of REST: switched off, token, arguments, and then the rules.
async fn call<T: Tool>(
    entry: &'static Entry,
    api: Shared,
    asked: Asked,
    mut args: JsonObject,
) -> Outcome<Value> {
    let token = if T::By::SIGNED { args::token(&mut args) } else { Ok(None) };
    let by = T::By::of(&api, &asked, token)?;
    let args = entry.known.read(args)?;
    T::run(&api, by, args).await?.written()
}
