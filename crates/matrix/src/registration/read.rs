//! Reading a registration file, by hand: serde's errors quote what they found, and that may be a token.

use std::{fs, path::Path};

use secrecy::SecretString;
use serde_norway::{Mapping, Value};

use super::{Namespace, Registration, RegistrationError};

impl Registration {
    /// Reads a file. Keys that we do not know are left alone, homeservers have their own.
    ///
    /// # Errors
    /// See [`RegistrationError`].
    pub fn read(path: &Path) -> Result<Self, RegistrationError> {
        let text = fs::read_to_string(path)
            .map_err(|source| RegistrationError::Unreadable { path: path.to_owned(), source })?;
        let value: Value = serde_norway::from_str(&text).map_err(|e| {
            let place = e.location().map(|l| format!(" (line {}, column {})", l.line(), l.column()));
            RegistrationError::NotYaml { path: path.to_owned(), place }
        })?;
        let Value::Mapping(mapping) = value else {
            return Err(RegistrationError::NotYaml { path: path.to_owned(), place: None });
        };
        Reader(&mapping).registration().map_err(|Problem(key, problem)| RegistrationError::Key {
            path: path.to_owned(),
            key,
            problem,
        })
    }
}

/// A key and what is wrong with it.
struct Problem(String, &'static str);

const NO_TEXT: &str = "has to be text; put quotes around it";

struct Reader<'a>(&'a Mapping);

impl Reader<'_> {
    fn registration(&self) -> Result<Registration, Problem> {
        let namespaces = match self.0.get("namespaces") {
            None | Some(Value::Null) => Mapping::new(),
            Some(Value::Mapping(mapping)) => mapping.clone(),
            Some(_) => return Err(Problem("namespaces".to_owned(), "has to hold users, aliases and rooms")),
        };
        let namespaces = Reader(&namespaces);
        Ok(Registration {
            id: self.text("id")?,
            url: self.url()?,
            as_token: self.token("as_token")?,
            hs_token: self.token("hs_token")?,
            sender_localpart: self.text("sender_localpart")?,
            rate_limited: self.flag("rate_limited", true)?,
            users: namespaces.namespaces("users")?,
            aliases: namespaces.namespaces("aliases")?,
            rooms: namespaces.namespaces("rooms")?,
            receive_ephemeral: self.flag("receive_ephemeral", false)?
                || self.flag("de.sorunome.msc2409.push_ephemeral", false)?,
            msc3202: self.flag("org.matrix.msc3202", false)?,
            msc4190: self.flag("io.element.msc4190", false)?,
        })
    }

    fn text(&self, key: &str) -> Result<String, Problem> {
        match self.0.get(key) {
            None => Err(Problem(key.to_owned(), "is missing; write the registration anew")),
            Some(Value::String(text)) if text.is_empty() => Err(Problem(key.to_owned(), "must not be empty")),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(Problem(key.to_owned(), NO_TEXT)),
        }
    }

    fn url(&self) -> Result<Option<String>, Problem> {
        match self.0.get("url") {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.text("url").map(Some),
        }
    }

    fn token(&self, key: &str) -> Result<SecretString, Problem> {
        let token = self.text(key)?;
        if token.bytes().all(|b| b.is_ascii_graphic()) {
            return Ok(token.into());
        }
        Err(Problem(
            key.to_owned(),
            "may only hold letters, digits and signs of ASCII; write the registration anew",
        ))
    }

    fn flag(&self, key: &str, default: bool) -> Result<bool, Problem> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(Problem(key.to_owned(), "has to be true or false")),
        }
    }

    fn namespaces(&self, kind: &str) -> Result<Vec<Namespace>, Problem> {
        match self.0.get(kind) {
            None | Some(Value::Null) => Ok(vec![]),
            Some(Value::Sequence(entries)) => {
                entries.iter().enumerate().map(|(at, entry)| namespace(kind, at, entry)).collect()
            }
            Some(_) => Err(Problem(format!("namespaces.{kind}"), "has to be a list")),
        }
    }
}

fn namespace(kind: &str, at: usize, entry: &Value) -> Result<Namespace, Problem> {
    let inside = |Problem(key, problem)| Problem(format!("namespaces.{kind}[{at}].{key}"), problem);
    let Value::Mapping(mapping) = entry else {
        return Err(Problem(format!("namespaces.{kind}[{at}]"), "has to hold exclusive and regex"));
    };
    let reader = Reader(mapping);
    Ok(Namespace {
        exclusive: reader.flag("exclusive", false).map_err(inside)?,
        regex: reader.text("regex").map_err(inside)?,
    })
}
