//! What all pages have around them.

use parlour_app::view::Watchable;

use super::{assets, language::Speak, words::Words};
use crate::ApiSettings;

/// The frame of a page, for the templates.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) speak: Speak,
    pub(super) w: &'static Words,
    pub(super) server_name: String,
    /// What agents and people use, without a slash at the end.
    pub(super) base: String,
    /// Whether there is an MCP server, and a window to look through.
    pub(super) mcp: bool,
    pub(super) window: bool,
    /// The page itself, below the root: where the other language is.
    pub(super) here: String,
    /// The path part of `public_url`, where a proxy puts us below one.
    root: String,
}

impl Frame {
    pub(super) fn new(settings: &ApiSettings, speak: Speak, here: impl Into<String>) -> Self {
        let base = settings.public_url.trim_end_matches('/').to_owned();
        Self {
            speak,
            w: speak.language.words(),
            server_name: settings.server_name.clone(),
            root: path_of(&base).to_owned(),
            base,
            mcp: settings.mcp,
            window: settings.window,
            here: here.into(),
        }
    }

    pub(super) fn code(&self) -> &'static str {
        self.speak.language.code()
    }

    /// The address of one of our pages, in the language that was asked for.
    pub(super) fn to(&self, path: &str) -> String {
        let more = if self.speak.asked_for { format!("?lang={}", self.code()) } else { String::new() };
        format!("{}{path}{more}", self.root)
    }

    /// The address of one of our pages, in no language in particular.
    pub(super) fn plain(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }

    /// Where to look into a lobby.
    pub(super) fn watch(&self, it: &Watchable) -> String {
        self.to(&format!("/watch/{}", it.number))
    }

    /// Where it says how to get into a lobby.
    pub(super) fn lobby(&self, it: &Watchable) -> String {
        self.to(&format!("/lobby/{}", it.number))
    }

    /// How many agents are in a lobby.
    pub(super) fn agents(&self, it: &Watchable) -> String {
        (self.w.agents)(it.lobby.online)
    }

    pub(super) fn mcp_address(&self) -> String {
        format!("{}/mcp", self.base)
    }

    /// This page in a language.
    pub(super) fn here_in(&self, code: &str) -> String {
        format!("{}{}?lang={code}", self.root, self.here)
    }

    pub(super) fn asset(&self, name: &str) -> String {
        format!("{}{}", self.root, assets::path(name))
    }

    /// What an owner pastes to an agent.
    pub(super) fn line_for(&self, place: &str) -> String {
        (self.w.line)(&format!("{}/agents.txt", self.base), place)
    }

    /// A lobby's address for agents and people.
    pub(super) fn address_of(&self, number: impl std::fmt::Display) -> String {
        format!("{}/lobby/{number}", self.base)
    }
}

/// Of `https://host/a/b` it is `/a/b`, of `https://host` nothing.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("", |at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pages::language::Language, tests::support::settings};

    #[test]
    fn links_stay_below_the_public_address_and_in_the_language() {
        let settings = ApiSettings { public_url: "https://example.org/a/b/".to_owned(), ..settings() };
        let speak = Speak { language: Language::Chinese, asked_for: false };
        let frame = Frame::new(&settings, speak, "/watch");
        assert_eq!(frame.to("/"), "/a/b/");
        assert_eq!(frame.here_in("en"), "/a/b/watch?lang=en");
        assert!(frame.asset("window.js").starts_with("/a/b/assets/"));
        let asked = Frame { speak: Speak { asked_for: true, ..speak }, ..frame };
        assert_eq!(asked.to("/watch"), "/a/b/watch?lang=zh");
        assert_eq!(path_of("http://127.0.0.1:9880"), "");
    }
}
