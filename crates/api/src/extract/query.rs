//! Query strings: known keys only, each once, values checked as they are read.
//!
//! Clients are sloppy in honest ways. What can only mean one thing is taken as that: a text or list left empty
//! (`roomId=`) is absent, commas may trail, `True` and `1` are true. An empty number, flag or word is a mistake, since a
//! value was meant and got lost on the way.

use axum::extract::FromRequestParts;
use http::request::Parts;
use parlour_domain::fault::{Code, Fault};

use super::percent::{Plus, decode};
use crate::{error::Refusal, openapi::Parameter};

/// What a route reads from its query.
pub(crate) trait FromQuery: Sized {
    /// All that it knows.
    const PARAMETERS: &'static [Parameter];

    /// # Errors
    /// `invalid_request` that names the key.
    fn read(pairs: &Pairs) -> Result<Self, Fault>;
}

/// A route's query.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

/// For routes that take none.
pub(crate) type NoQuery = Query<()>;

impl FromQuery for () {
    const PARAMETERS: &'static [Parameter] = &[];

    fn read(_: &Pairs) -> Result<Self, Fault> {
        Ok(())
    }
}

impl<T: FromQuery, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        Ok(Self(read(parts.uri.query())?))
    }
}

pub(crate) fn read<T: FromQuery>(query: Option<&str>) -> Result<T, Fault> {
    T::read(&Pairs::parse(query.unwrap_or_default(), T::PARAMETERS)?)
}

/// Keys that a route knows, with their values as they came.
#[derive(Debug, Default)]
pub(crate) struct Pairs(Vec<(&'static str, String)>);

impl Pairs {
    fn parse(query: &str, parameters: &'static [Parameter]) -> Result<Self, Fault> {
        let mut pairs = Self::default();
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let key = known(key, parameters)?;
            if pairs.raw(key).is_some() {
                return Err(Fault::invalid(
                    key,
                    format!("Give {key} once; where it takes several values, put commas between."),
                ));
            }
            pairs.0.push((key, value.to_owned()));
        }
        Ok(pairs)
    }

    fn raw(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str())
    }

    fn decoded(&self, key: &str, plus: Plus) -> Result<Option<String>, Fault> {
        let read = |raw| decode(raw, plus).ok_or_else(|| undecodable(key));
        self.raw(key).map(read).transpose()
    }

    /// An id: a plus sign is a plus sign.
    pub(crate) fn id(&self, key: &str) -> Result<Option<String>, Fault> {
        Ok(self.decoded(key, Plus::Itself)?.filter(|v| !v.trim().is_empty()))
    }

    /// A Matrix id or a display name.
    pub(crate) fn id_or_name(&self, key: &str) -> Result<Option<String>, Fault> {
        let id = self.id(key)?;
        if id.as_ref().is_some_and(|v| v.starts_with('@')) { Ok(id) } else { self.decoded_name(key) }
    }

    fn decoded_name(&self, key: &str) -> Result<Option<String>, Fault> {
        Ok(self.decoded(key, Plus::Blank)?.filter(|v| !v.trim().is_empty()))
    }

    /// Ids with commas between. None of ours begins or ends with a plus sign: there it is the blank of a form encoder.
    /// Empty ones are left out, but count: the description of a list counts them, too.
    pub(crate) fn ids(&self, key: &str, most: usize) -> Result<Vec<String>, Fault> {
        let text = self.decoded(key, Plus::Itself)?.unwrap_or_default();
        if text.split(',').count() > most {
            return Err(Fault::too_many_ids(key, most));
        }
        let items = text.split(',').map(|item| item.trim_matches(|c: char| c == '+' || c.is_whitespace()));
        Ok(items.filter(|item| !item.is_empty()).map(str::to_owned).collect())
    }

    /// A whole number. One beyond 64 bits is the largest there is: ranges are the rules' business.
    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, Fault> {
        let Some(text) = self.decoded(key, Plus::Itself)? else { return Ok(None) };
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Fault::invalid(
                key,
                format!("{key} has to be a whole number, 0 or more, like {key}=5."),
            ));
        }
        Ok(Some(text.parse().unwrap_or(u64::MAX)))
    }

    /// `true` or `false`, in any case, or 1 or 0. Absent is false.
    pub(crate) fn flag(&self, key: &str) -> Result<bool, Fault> {
        match self.decoded(key, Plus::Itself)?.map(|v| v.to_ascii_lowercase()).as_deref() {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(_) => Err(Fault::invalid(key, format!("{key} has to be true or false."))),
        }
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, Fault> {
        let Some(text) = self.decoded(key, Plus::Itself)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.map(Some).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            Fault::invalid(key, format!("{key} has to be one of {}.", known.join(", ")))
        })
    }
}

fn known(raw: &str, parameters: &'static [Parameter]) -> Result<&'static str, Fault> {
    let key = decode(raw, Plus::Blank);
    let found = parameters.iter().map(|p| p.name).find(|name| Some(*name) == key.as_deref());
    found.ok_or_else(|| unknown(&key.unwrap_or_else(|| raw.to_owned()), parameters))
}

fn unknown(key: &str, parameters: &[Parameter]) -> Fault {
    let keys: Vec<&str> = parameters.iter().map(|p| p.name).collect();
    let key: String = key.chars().take(64).collect();
    let advice = match keys.as_slice() {
        [] => "This route takes no parameters.".to_owned(),
        _ => format!("This route knows {}.", keys.join(", ")),
    };
    Fault::new(Code::InvalidRequest, format!("Unknown parameter `{key}`. {advice}")).field(&key)
}

fn undecodable(key: &str) -> Fault {
    Fault::invalid(key, format!("{key} is not valid percent-encoded UTF-8. Encode its value again."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::openapi::Kind;

    const PARAMETERS: &[Parameter] =
        &[named("id"), named("ids"), named("n"), named("flag"), named("word"), named("from")];

    const fn named(name: &'static str) -> Parameter {
        Parameter { name, kind: Kind::Text, what: "", example: "" }
    }

    fn pairs(query: &str) -> Result<Pairs, Fault> {
        Pairs::parse(query, PARAMETERS)
    }

    fn field(fault: &Fault) -> &str {
        fault.details["field"].as_str().unwrap()
    }

    #[rstest]
    #[case::unknown("nn=1", "nn")]
    #[case::case_matters("N=1", "N")]
    #[case::only_a_value("=1", "")]
    #[case::twice("n=1&n=1", "n")]
    #[case::twice_in_disguise("n=1&%6e=2", "n")]
    #[case::bad_key("%zz=1", "%zz")]
    fn refused_as_a_whole(#[case] query: &str, #[case] expected: &str) {
        assert_eq!(field(&pairs(query).unwrap_err()), expected);
    }

    #[test]
    fn long_unknown_keys_are_not_repeated_in_full() {
        assert_eq!(field(&pairs(&"k".repeat(5000)).unwrap_err()).len(), 64);
    }

    #[rstest]
    #[case("", None)]
    #[case("n=0", Some(0))]
    #[case("&n=05&", Some(5))]
    #[case("n=99999999999999999999999", Some(u64::MAX))]
    fn numbers(#[case] query: &str, #[case] expected: Option<u64>) {
        assert_eq!(pairs(query).unwrap().number("n").unwrap(), expected);
    }

    #[rstest]
    #[case("n")]
    #[case("n=")]
    #[case("n=-1")]
    #[case("n=+1")]
    #[case("n=1.0")]
    #[case("n=1e3")]
    #[case("n=%201")]
    #[case("n=0x1f")]
    #[case("n=NaN")]
    #[case("n=%D9%A3")]
    fn no_numbers(#[case] query: &str) {
        assert_eq!(field(&pairs(query).unwrap().number("n").unwrap_err()), "n");
    }

    #[rstest]
    #[case("", Some(false))]
    #[case("flag=true", Some(true))]
    #[case("flag=True", Some(true))]
    #[case("flag=1", Some(true))]
    #[case("flag=false", Some(false))]
    #[case("flag=0", Some(false))]
    #[case("flag", None)]
    #[case("flag=", None)]
    #[case("flag=yes", None)]
    fn flags(#[case] query: &str, #[case] expected: Option<bool>) {
        assert_eq!(pairs(query).unwrap().flag("flag").ok(), expected);
    }

    #[rstest]
    #[case("", &[])]
    #[case("ids=", &[])]
    #[case("ids=,%20,", &[])]
    #[case("ids=$a,$b", &["$a", "$b"])]
    #[case("ids=%24a%2C+%24b,", &["$a", "$b"])]
    #[case("ids=$a+b/c", &["$a+b/c"])]
    fn lists(#[case] query: &str, #[case] expected: &[&str]) {
        assert_eq!(pairs(query).unwrap().ids("ids", 3).unwrap(), expected);
    }

    #[test]
    fn items_of_a_list_count_also_where_they_are_empty() {
        for query in ["ids=a,b,c,d", "ids=a,,b,c", "ids=,,,"] {
            assert_eq!(field(&pairs(query).unwrap().ids("ids", 3).unwrap_err()), "ids");
        }
    }

    #[rstest]
    #[case("id=", None)]
    #[case("id=%20", None)]
    #[case("id=!a+b:x", Some("!a+b:x"))]
    #[case("id=a=b", Some("a=b"))]
    fn ids(#[case] query: &str, #[case] expected: Option<&str>) {
        assert_eq!(pairs(query).unwrap().id("id").unwrap().as_deref(), expected);
    }

    #[rstest]
    #[case("from=@a+b:x", "@a+b:x")]
    #[case("from=Ada+Lovelace", "Ada Lovelace")]
    #[case("from=Scout%20%232316", "Scout #2316")]
    fn ids_or_names(#[case] query: &str, #[case] expected: &str) {
        assert_eq!(pairs(query).unwrap().id_or_name("from").unwrap().as_deref(), Some(expected));
    }

    #[test]
    fn words() {
        let words = [("one", 1), ("two", 2)];
        let read = |query: &str| pairs(query).unwrap().word("word", &words).map_err(|f| f.message);
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("word=two"), Ok(Some(2)));
        assert_eq!(read("word=Two"), Err("word has to be one of one, two.".to_owned()));
        assert!(read("word=").is_err());
    }

    #[rstest]
    #[case("id=%zz")]
    #[case("id=%ff")]
    fn bad_encoding_names_its_key(#[case] query: &str) {
        assert_eq!(field(&pairs(query).unwrap().id("id").unwrap_err()), "id");
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused(query: String) {
            if let Ok(pairs) = pairs(&query) {
                let _ = (pairs.id("id"), pairs.ids("ids", 3), pairs.number("n"), pairs.flag("flag"));
                let _ = pairs.id_or_name("from");
            }
        }
    }
}
