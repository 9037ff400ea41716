//! English or Chinese: `?lang=` decides, else what the browser asks for.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::{HeaderMap, header, request::Parts};

use super::words::{self, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Chinese,
}

/// The language to answer in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Speak {
    pub(super) language: Language,
    /// By `?lang=`, which links then carry on.
    pub(super) asked_for: bool,
}

impl Language {
    /// For `lang` in HTML.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    pub(super) fn words(self) -> &'static Words {
        match self {
            Self::English => &words::ENGLISH,
            Self::Chinese => &words::CHINESE,
        }
    }

    /// A language tag: `zh`, `zh-Hans-CN`, `EN_us`.
    fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next()?;
        [Self::English, Self::Chinese].into_iter().find(|l| primary.eq_ignore_ascii_case(l.code()))
    }
}

impl<S: Sync> FromRequestParts<S> for Speak {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(speak(parts.uri.query(), &parts.headers))
    }
}

fn speak(query: Option<&str>, headers: &HeaderMap) -> Speak {
    let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.strip_prefix("lang="));
    if let Some(language) = pairs.filter_map(Language::of_tag).next() {
        return Speak { language, asked_for: true };
    }
    let accepted = headers.get_all(header::ACCEPT_LANGUAGE).iter().filter_map(|v| v.to_str().ok());
    let language = best(accepted.flat_map(|v| v.split(','))).unwrap_or(Language::English);
    Speak { language, asked_for: false }
}

/// The one with the greatest weight, the first among equals (RFC 9110, 12.5.4). One with weight 0 is not wanted.
fn best<'a>(ranges: impl Iterator<Item = &'a str>) -> Option<Language> {
    let weighed = ranges.filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let language = Language::of_tag(parts.next()?)?;
        let weight = parts.find_map(|p| p.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse::<f32>().ok())?;
        (weight > 0.0).then_some((language, weight))
    });
    weighed.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(language, _)| language)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "", "en")]
    #[case("", "zh", "zh")]
    #[case("", "zh-CN,zh;q=0.9,en;q=0.8", "zh")]
    #[case("", "de-DE,de;q=0.9,zh;q=0.3,en;q=0.5", "en")]
    #[case("", "en;q=0.4, ZH-Hant;q=0.5", "zh")]
    #[case("", "zh;q=0, fr", "en")]
    #[case("", "zh;q=x", "en")]
    #[case("", "*", "en")]
    #[case("lang=zh", "en", "zh")]
    #[case("before=x&lang=en", "zh", "en")]
    #[case("lang=zh_TW", "", "zh")]
    #[case("lang=tlh", "zh", "zh")]
    #[case("lang=", "", "en")]
    fn languages(#[case] query: &str, #[case] accepted: &str, #[case] code: &str) {
        let headers = HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, accepted.parse().unwrap())]);
        let speak = speak(Some(query), &headers);
        assert_eq!(speak.language.code(), code);
        assert_eq!(speak.asked_for, query.contains(&format!("lang={code}")));
    }
}
